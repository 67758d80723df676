"""User texts: sentences for the owner where a turn ends without an answer or is delayed.

Also called: user-facing messages.
"""

CALL_REPEATED = (
    "I seem to be stuck trying to answer your question. Could you rephrase it in a different way?"
)
TOO_MUCH_CONTEXT = (
    "That's a lot of information to process at once! Could you narrow down your request? Try "
    "asking about a smaller time period or being more specific about what you're looking for."
)
TOO_MUCH_FOR_MODEL = (
    "Your message and what belongs to it are more than the language model takes at once. Please "
    "shorten it, or send it in parts."
)
DETAILS_REQUESTED = (
    "I would like to read more about you in this chat: my later answers would be better. You can allow or "
    "refuse that in Keepsake's console, at any time."
)
DEADLINE_PASSED = "This is taking longer than it should, so I stopped here. Please try again."
ANSWER_TOO_LONG = "My answer was getting too long, so I stopped here."
INTERNAL_ERROR = "Something went wrong while I was answering. Please try again."
ANSWER_AT_BOUND = "The answer reached the bound of what the model may write, so it ends here."
ANSWER_CUT = "The language model broke off here. Ask again, and it answers anew."
ANSWER_REPEATING = "The language model began to repeat itself, so I ended the answer."
MODEL_READS = (
    "The language model is still reading. On a small computer that can take a minute or more."
)
FILES_UNREAD = (
    "I did not read {names}: files are read only with a language model, and none is connected."
)
PROVIDER_LIMIT = "The limit of the language model's provider is reached for now."
TRY_LATER = "Please try again in a minute."
TRY_IN = "Please try again in {wait}."
MODEL_DOWN = "The language model cannot be reached at the moment. Please try again in a minute."
MODEL_BUSY = (
    "Many people are asking at the moment, so I could not answer. Please try again in a minute."
)
STORE_DOWN = "Your chats cannot be read at the moment, so I did not answer. Please try again."
ANSWER_EMPTY = "I have no answer to that. Could you ask in other words?"
ANSWER_INTERRUPTED = "I was interrupted before I could answer. Please ask again."
ANSWER_HAS_MORE = "There is something more for you in your chat. Please have a look."
ANSWER_STOPPED = "You stopped me before I could answer."
QUESTION_NOT_SAVED = (
    "Your question could not be saved, so I did not answer it. Please send it again."
)
VOICE_NOT_HEARD = "I could not hear anybody speak in this voice message. Please try again."
VOICE_NOT_WRITTEN_DOWN = (
    "Your voice message could not be written down: the transcription service does not answer. Please "
    "send it once more."
)
REALTIME_DOWN = "The service to speak with does not answer at the moment. Please try again."
CALL_SKIPPED = "I did not use {tool} of {source}: I could not ask you about it."
CONFIRM_CALL = "May “{source}” ({maker}, id `{id}`) do “{tool}” with exactly this?"
CHANGED = "Changed: {changes} {reply}"
REPLY_UNDO = "Reply undo."
UNDO = "undo"
UNDONE = "Undone: {changes}"
CHANGED_SINCE = "It was changed or deleted since, so it stays as it is: {changes}"
MEMORY_MADE = "Remembered {text}."
MEMORY_CHANGED = "The memory {earlier} now says {text}."
TASK_MADE = "Created the task {text}."
TASK_CHANGED = "Changed the task {text}."
TASK_DONE = "Completed the task {text}."
TASK_REOPENED = "Reopened the task {text}."
SUMMARIES_CHANGED = "Changed when daily summaries come."
REPLY_ALWAYS = "Reply yes, always or no."
REPLY_ONCE = "Reply yes or no."
BUSY = "⚠️ I'm processing a lot of information. Your response might take a moment..."
NO_SOURCE = "I searched the web and found no source that confirms an answer, so I give none rather than guess."
NO_WEB_SEARCH = "I cannot search the web here, so I could not check this, and I give no answer rather than guess."
SOURCES = "Sources:"
REFUSED = (
    "I do not help with this, because it could hurt other people. If I misread you, tell me what it is for. And if "
    "you are in need yourself, or somebody threatens you, write that: I am there for it."
)
CHAT_SLOWED = (
    "Because of what was asked in this chat, it answers only {limit} questions an hour. It continues at "
    "{time}."
)
CHAT_LOCKED = (
    "Because of what was asked in this chat, it is closed until {time}. You can begin a new chat. If "
    "you are in need yourself, write it here: that is always answered."
)
ANSWER_WRITTEN_AGAIN = (
    "I wrote this answer again: a check of the first one found something in it that could do harm."
)
ANSWER_WITHDRAWN = "I should not have answered like that. I gladly help you with something else."
LINKS_REPLACED = "A page that I linked to is gone. A search for it stands in its place."
SEARCH_FOR = "Search for “{words}”"
QUOTA_USED_UP = "You used up today's {limit} {noun}. It continues at {time}."
GREETING = (
    "Hi{name}! {app} here. Ask me what was said, agreed or planned, and I will show you where it "
    "comes from."
)

ALL_MEMORIES = "This is remembered about you:"
NEWEST_MEMORIES = "These are the newest of what is remembered about you:"
MEMORIES_FOUND = "This is remembered about it:"
NOTHING_REMEMBERED = "Nothing is remembered about you yet."
NO_SUCH_MEMORY = "Nothing that is remembered fits this."
NO_SUCH_NUMBER = "There is no such number in the list. Write /memories to see it, then /why 1."
NEWEST_ARCS = "What you spoke about here of late:"
RULES = "Your rules for every answer:"
NO_RULES = "You have no rules. Write one: /rule Answer in one sentence."
RULE_TOO_LONG = "A rule has at most {words} words and {chars} characters."
SAID_IN_WORDS = "It was said on {time}: “{quote}”"
HEARD = "It comes from what was said on {time}."
WRITTEN_AFTER_READING = "It was written on {time}, after words of others had been read."
WRITTEN_BY_OWNER = "You wrote it down on {time}."
WRITTEN_BY_APP = "The app {app} wrote it on {time}."
ASK_TO_FORGET = "This would be forgotten for good:"
WHICH_TO_FORGET = "Which of these is to be forgotten? Write its number, or {all} for all of them."
MORE_FOUND = "There may be more. Forget these, then write the same again."
FORGOTTEN = "This is forgotten:"
NOTHING_FORGOTTEN = "Nothing was forgotten."
WIPE_WORDS = "delete everything"
ASK_TO_WIPE = (
    "This deletes all that is remembered about you, for good, and the titles, summaries and tags of your "
    "chats with it. Recordings and the messages of chats stay. If you want that, write: {words}"
)
WIPED = "All that was remembered about you is deleted."
REMEMBERED = "Remembered: “{fact}”"
KNOWN_ALREADY = "This is remembered already: “{fact}”"
HISTORY_NEEDED = (
    "This chat's messages are not on the server any more. Ask in an app that keeps them: it sends them "
    "again."
)
READS_ONLY = "This chat is private, so that nothing can be changed from here. Use another chat."
HOW_TO_GO_INCOGNITO = (
    "A chat is incognito from its first message on: begin a new one with the incognito button. It "
    "is gone an hour after its last message, and nothing of it is remembered."
)
COMMANDS = (
    "- /memories – what is remembered; with words: about these\n"
    "- /why 1 – where number 1 of the list comes from\n"
    "- /forget 1 – forget number 1 of the list; with words: what is remembered about these\n"
    "- /remember … – write down a fact\n"
    "- /rules – how you want to be answered; /rule … adds one\n"
    "- /recall off – answers use nothing that is remembered; /recall on: they do again\n"
    "- /wipe – forget everything\n"
    "- /incognito – how to chat without a trace"
)
