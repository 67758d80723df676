"""User texts: sentences for the owner where a turn ends without an answer or is delayed."""

TOO_MANY_CALLS = (
    "I'm having trouble finding all the information you need. Could you try asking a simpler "
    "question or breaking this into separate questions?"
)
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
DEADLINE_PASSED = "This is taking longer than it should, so I stopped here. Please try again."
ANSWER_TOO_LONG = "My answer was getting too long, so I stopped here."
INTERNAL_ERROR = "Something went wrong while I was answering. Please try again."
MODEL_DOWN = "The language model cannot be reached at the moment. Please try again in a minute."
STORE_DOWN = "Your chats cannot be read at the moment, so I did not answer. Please try again."
ANSWER_EMPTY = "I have no answer to that. Could you ask in other words?"
ANSWER_INTERRUPTED = "I was interrupted before I could answer. Please ask again."
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
CONFIRM_CALL = (
    "May “{source}” ({maker}, id `{id}`) do `{tool}` with exactly this?\n```json\n{arguments}\n```\n"
    "{reason} {reply}"
)
REPLY_ALWAYS = "Reply yes, always or no."
REPLY_ONCE = "Reply yes or no."
BUSY = "⚠️ I'm processing a lot of information. Your response might take a moment..."
QUOTA_USED_UP = "You used up today's {limit} {noun}. It continues at {time}."
GREETING = (
    "Hi{name}! {app} here. Ask me what was said, agreed or planned, and I will show you where it "
    "comes from."
)
