"""First questions about the sample library, each with what its answer must contain.

A check is a tuple of alternatives; the answer must contain one of each tuple, in any case.
"""

TUNED: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("What do I have to do?", (("fridge",), ("planting plan",))),
    ("What is my to-do list?", (("running shoes",), ("fridge",))),
    ("Who is Viktor?", (("kitchen",), ("Viktor",))),
    ("Where do I live?", (("Bristol",),)),
    ("What do you know about me?", (("penicillin",), ("landscape architect",))),
    ("Who did I talk to about the kitchen?", (("Viktor",), ("Nora",))),
    ("What was my last conversation about?", (("fridge", "Biscuit", "cupboards"),)),
    ("What did we decide about the lamps?", (("Leeds", "amber"),)),
    ("How much does the kitchen cost?", (("thousand",),)),
    ("What did Marcus promise?", (("lamps", "goggles", "invitation", "supplier"),)),
    ("When does Nora's exhibition open?", (("six weeks",),)),
    ("What is my cat called?", (("Biscuit",),)),
    ("What am I allergic to?", (("penicillin",),)),
    ("What can you do?", (("task",), ("remember", "memor"))),
    ("Summarize the last 7 days", (("Cascais", "fridge"), ("exhibition", "photographs", "lamps"))),
    ("What is the address of the flat in Cascais?", (("Rua das Flores",),)),
    ("Remember that I like green tea", (("green tea",), ("remember",))),
    ("What does Theo want for his birthday?", (("octopus",),)),
    ("What did the doctor say about my knee?", (("tendon", "exercises", "run again"),)),
    ("What is the capital of France?", (("language model",),)),
)
UNTUNED: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("Show me my open tasks", (("fridge",), ("planting plan",))),
    ("Anything I still need to take care of?", (("fridge", "planting plan"),)),
    ("Tell me about Yuki", (("choir", "book", "Kyoto"),)),
    ("Which city did I move to?", (("Bristol",),)),
    ("What have you learned about me so far?", (("penicillin", "architect", "cello"),)),
    ("With whom did I discuss the insurance?", (("Caller", "Avon"),)),
    ("What did I talk about most recently?", (("fridge", "Biscuit", "cupboards"),)),
    ("What was agreed about the worktop?", (("cheaper", "under a thousand"),)),
    ("How expensive are the flights to Lisbon?", (("two hundred and ten", "sixty"),)),
    ("What did Lena say she would do?", (("colleague", "airport", "price"),)),
    ("When is the next book club?", (("five weeks",),)),
    ("What is my job?", (("architect",),)),
    ("Is anybody allergic to nuts?", (("Jonas",),)),
    ("Hello, who are you?", (("Keepsake",),)),
    ("Give me an overview of the past week", (("Cascais", "fridge", "lamps"),)),
    ("What is wrong with my car?", (("brake",),)),
    ("Please remember my shoe size is 43", (("shoe size",), ("remember",))),
    ("Which instrument do I play?", (("cello",),)),
    ("Thanks, that was helpful!", (("welcome",),)),
    ("How do I boil an egg?", (("language model",),)),
)


VARIED: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("What time does the pool at Horfield open?", (("six",),)),
    ("How much is the deposit for the kitchen?", (("two thousand",),)),
    ("When is Theo's birthday?", (("four weeks",),)),
    ("What colour are the new cabinets?", (("sage green",),)),
    ("Who suggested cork for the floor?", (("Viktor",),)),
    ("Where does Greta leave her key?", (("blue pot",),)),
    (
        "What did Nora promise?",
        (("cupboards", "book the flights", "consent form", "move the money"),),
    ),
    ("What did I promise Greta?", (("tomatoes",),)),
    ("How long will the kitchen work take?", (("three weeks",),)),
    ("What does Viktor need from me?", (("deposit", "colour", "cupboards"),)),
    ("Which book are we reading next?", (("Piranesi",),)),
    ("Who is allergic to nuts?", (("Jonas",),)),
    ("How many lamps did we order?", (("forty-two",),)),
    ("What did we decide about the playground?", (("water pump",),)),
    ("What is the budget for the playground?", (("forty thousand",),)),
    ("What do I still have to buy?", (("shoes", "strings"),)),
    ("Summarize my talk with Dr. Hale", (("knee",),)),
    ("Where does my sister live?", (("Lisbon",),)),
    ("Who will meet us at the airport?", (("Lena",), ("airport",))),
    ("How much do the car brakes cost to repair?", (("three hundred and twenty",),)),
    ("What raise did Priya offer me?", (("six percent",),)),
    ("When do we meet for the next book club?", (("five weeks",),)),
    ("Remember that my locker code is 4711", (("locker code",), ("remember",))),
    ("Who is Dana?", (("council", "minutes", "harbour"), ("Dana",))),
    ("What did Greta bring me from Norway?", (("brown cheese",),)),
    (
        "Did I talk to the insurance?",
        (("insurance",), ("Avon", "policy", "contract", "renovation")),
    ),
    ("What is the reference number for the renovation?", (("Kestrel",),)),
    ("Where will Nora's exhibition be?", (("Cardiff",),)),
    ("When does the recycling yard close?", (("noon",),)),
    ("Can you translate good morning into Spanish?", (("language model",),)),
)
"""Written before anybody looked at the rules, which were then improved."""
UNSEEN: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("How many photographs is Nora showing?", (("twelve",),)),
    ("Who is lending me a camping stove?", (("Tom",),)),
    ("What should my mother pack?", (("coat",),)),
    ("What is planned for the evening of Mum's birthday?", (("fish restaurant",),)),
    ("How old is my car?", (("fourteen",),)),
    ("What does the insurance want from me?", (("contract", "builder's name"),)),
    ("Who can take Biscuit?", (("Jonah",),)),
    ("How long is Greta away?", (("ten days",),)),
    ("What is Marcus going to write?", (("invitation",),)),
    ("Why did the car fail the inspection?", (("rear brakes",),)),
    ("What does the flat cost per night?", (("ninety euros",),)),
    ("When will Viktor start?", (("three weeks",),)),
    ("Whom did I talk to most recently?", (("Nora",),)),
    ("What did I say I would rent?", (("van",),)),
    ("Is Ines a vegetarian?", (("vegetarian",),)),
    ("What do I have to do for Mum?", (("pills", "weekend"),)),
    ("Don't forget that Jonah's number ends in 88", (("88",), ("remember",))),
    ("What happened three days ago?", (("exhibition", "frames", "photographs"),)),
    ("How far did I swim?", (("forty lengths",),)),
    ("What is the square root of 144?", (("language model",),)),
)
"""Written with the last ones, and asked for the first time when the rules were done: 15 were right."""


def is_right(answer: str, checks: tuple[tuple[str, ...], ...]) -> bool:
    text = answer.casefold()
    return all(any(word.casefold() in text for word in alternatives) for alternatives in checks)
