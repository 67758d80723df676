"""Quirks of control text inside content: thoughts, channels, ends of turns, and calls written as text."""

from collections.abc import Mapping, Sequence

from tests.servers.quirky_openai import (
    ANSWER,
    ARGUMENTS,
    ARGUMENTS_JSON,
    SEARCH,
    End,
    Quirk,
    always,
    behave,
    build_chunk,
    build_text_chunks,
    call,
    play_in_turn,
    refuse,
    say,
    search_by,
    search_by_text,
    stream,
)

_OTHER = {"query": "boiler"}
_THOUGHT = "I should answer."
_SAID = End(calls=())
_THOUGHTFUL = End(calls=(), reasoning=_THOUGHT)
_CALL_JSON = f'{{"name": "{SEARCH}", "arguments": {ARGUMENTS_JSON}}}'
_LLAMA_JSON = f'{{"name": "{SEARCH}", "parameters": {ARGUMENTS_JSON}}}'
_HERMES = f"<tool_call>\n{_CALL_JSON}\n</tool_call>"


def _split(text: str) -> Sequence[str]:
    """Split into single characters: every border that a stream can have."""
    return [*text]


_THINKING: Mapping[str, tuple[str, Sequence[str]]] = {
    "in-four-pieces": (
        "W28",
        ["<th", "ink>\nI should answer.\n</thi", "nk>\n\n", ANSWER],
    ),
    "closed-alone": ("W28", ["I should ", "answer.\n</think>\n\n", ANSWER]),
    "closed-alone-in-pieces": ("W28", ["I should answer.", "</th", "ink>", ANSWER]),
    "closed-alone-by-characters": ("W28", _split(f"{_THOUGHT}\n</think>\n\n{ANSWER}")),
    "in-one-piece": ("W28", [f"<think>{_THOUGHT}</think>{ANSWER}"]),
    "by-characters": ("W28", _split(f"<think>\n{_THOUGHT}\n</think>\n\n{ANSWER}")),
    "after-empty-lines": ("variant of W28", ["\n\n", "<think>", _THOUGHT, "</think>", ANSWER]),
    "thinking": ("variant of W28", [f"<thinking>{_THOUGHT}</thinking>\n{ANSWER}"]),
    "thought": ("Gemini's endpoint with thoughts", [f"<thought>{_THOUGHT}</thought>\n{ANSWER}"]),
    "reasoning": ("variant of W28", [f"<reasoning>{_THOUGHT}</reasoning>{ANSWER}"]),
    "seed": ("ByteDance Seed-OSS", [f"<seed:think>{_THOUGHT}</seed:think>{ANSWER}"]),
    "brackets": ("Magistral", _split(f"[THINK]{_THOUGHT}[/THINK]{ANSWER}")),
    "channel": (
        "ml-explore/mlx-lm#1867: gpt-oss",
        [
            "<|channel|>analysis<|message|>",
            _THOUGHT,
            "<|end|><|start|>assistant<|channel|>final<|message|>",
            ANSWER,
            "<|return|>",
        ],
    ),
    "channel-by-characters": (
        "ml-explore/mlx-lm#1867: gpt-oss",
        _split(
            f"<|channel|>analysis<|message|>{_THOUGHT}<|end|><|start|>assistant<|channel|>final"
            f"<|message|>{ANSWER}"
        ),
    ),
    "channel-without-marks": (
        "Augustas11/macprovider#743: gpt-oss",
        ["analysis", _THOUGHT, "assistant", "final", ANSWER],
    ),
    "gemma-channel": ("Gemma 4", [f"<|channel>thought\n{_THOUGHT}\n<channel|>{ANSWER}"]),
    "attribute": ("variant of W28", [f'<think time="2">{_THOUGHT}</think>{ANSWER}']),
    "capital-letters": ("variant of W28", [f"<THINK>{_THOUGHT}</THINK>{ANSWER}"]),
}

THOUGHTS = (
    *(
        Quirk(id=name, source=source, play=say(*pieces), end=_THOUGHTFUL)
        for name, (source, pieces) in _THINKING.items()
    ),
    Quirk(
        id="empty",
        source="Qwen 3 without thinking",
        play=say("<think>\n\n</think>\n\n", ANSWER),
        end=_SAID,
    ),
    Quirk(
        id="two",
        source="variant of W28",
        play=say(f"<think>{_THOUGHT}</think>", f"<think>Yes.</think>\n{ANSWER}"),
        end=_THOUGHTFUL,
    ),
    Quirk(
        id="beside-its-field",
        source="variant of W28: the end of a thought in the content",
        play=lambda _: stream(
            build_chunk({"reasoning_content": _THOUGHT}),
            *build_text_chunks(f"</think>\n\n{ANSWER}"),
        ),
        end=_THOUGHTFUL,
    ),
    Quirk(
        id="in-its-field-with-tags",
        source="variant of W28",
        play=lambda _: stream(
            build_chunk({"reasoning_content": f"<think>{_THOUGHT}"}), *build_text_chunks(ANSWER)
        ),
        end=_THOUGHTFUL,
    ),
    Quirk(
        id="cut-by-length",
        source="variant of W28",
        play=say("<think>", _THOUGHT, finish_reason="length"),
        end=End(text="", calls=(), reasons=("length",), reasoning=_THOUGHT),
    ),
    Quirk(
        id="before-a-call",
        source="variant of W28",
        play=search_by(
            {"content": f"<think>{_THOUGHT}</think>\n\n"}, {"tool_calls": [call(index=0, id="a")]}
        ),
        end=End(reasoning=_THOUGHT),
    ),
    Quirk(
        id="closed-alone-before-a-call",
        source="variant of W28",
        play=search_by(
            {"content": f"{_THOUGHT}\n</think>\n\n"}, {"tool_calls": [call(index=0, id="a")]}
        ),
        end=End(reasoning=_THOUGHT),
    ),
)

_ENDS = (
    "<|im_end|>",
    "<|eot_id|>",
    "</s>",
    "<|end|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<|return|>",
    "<｜end▁of▁sentence｜>",
)
ENDS_OF_TURNS = tuple(
    Quirk(
        id=end,
        source="lmstudio-ai/lmstudio-bug-tracker#1806 and others: an end that is written",
        play=say(ANSWER, end[:4], end[4:]),
        end=_SAID,
    )
    for end in _ENDS
)

_BAR = "｜"
_CALLS: Mapping[str, tuple[str, str]] = {
    "hermes": ("W31", _HERMES),
    "hermes-unclosed": ("variant of W31", f"<tool_call>\n{_CALL_JSON}"),
    "hermes-on-one-line": ("variant of W31", f"<tool_call>{_CALL_JSON}</tool_call>"),
    "hermes-arguments-as-text": (
        "variant of W31",
        f'<tool_call>{{"name": "{SEARCH}", "arguments": "{{\\"query\\": \\"plumber\\"}}"}}</tool_call>',
    ),
    "hermes-and-its-end": ("variant of W31", f"{_HERMES}<|im_end|>"),
    "qwen-coder": (
        "ggml-org/llama.cpp#15012",
        (
            f"<tool_call>\n<function={SEARCH}>\n<parameter=query>\nplumber\n</parameter>\n</function>\n"
            "</tool_call>"
        ),
    ),
    "qwen-coder-unopened": (
        "ggml-org/llama.cpp#15012",
        f"<function={SEARCH}>\n<parameter=query>\nplumber\n</parameter>\n</function>\n</tool_call>",
    ),
    "qwen-coder-tools": ("Qwen2.5-Coder", f"<tools>\n{_CALL_JSON}\n</tools>"),
    "glm": (
        "GLM",
        f"<tool_call>{SEARCH}\n<arg_key>query</arg_key>\n<arg_value>plumber</arg_value>\n</tool_call>",
    ),
    "mistral": ("Mistral", f"[TOOL_CALLS][{_CALL_JSON}]"),
    "mistral-spaced": ("Mistral", f"[TOOL_CALLS] [{_CALL_JSON}]</s>"),
    "mistral-arguments": ("Mistral", f"[TOOL_CALLS]{SEARCH}[ARGS]{ARGUMENTS_JSON}"),
    "mistral-id": ("Mistral", f"[TOOL_CALLS]{SEARCH}[CALL_ID]a1b2c3d4e[ARGS]{ARGUMENTS_JSON}"),
    "llama-python-tag": ("Llama 3", f"<|python_tag|>{_LLAMA_JSON}"),
    "llama-python-tag-and-its-end": ("Llama 3", f"<|python_tag|>{_LLAMA_JSON}<|eom_id|>"),
    "llama-bare": ("Llama 3", _LLAMA_JSON),
    "llama-typed": ("Llama 3", f'{{"type": "function", {_LLAMA_JSON[1:]}'),
    "llama-function": (
        "groq/groq-typescript#28",
        f"<function={SEARCH}>{ARGUMENTS_JSON}</function>",
    ),
    "llama-function-slashed": (
        "huggingface/smolagents#1119",
        f"<function={SEARCH}{ARGUMENTS_JSON}</function>",
    ),
    "llama-pythonic": ("Llama 4", f'[{SEARCH}(query="plumber")]'),
    "bare-arguments": ("variant of W31", _CALL_JSON),
    "bare-list": ("variant of W31", f"[{_CALL_JSON}]"),
    "fenced": ("variant of W31", f"```json\n{_CALL_JSON}\n```"),
    "fenced-without-language": ("variant of W31", f"```\n{_LLAMA_JSON}\n```"),
    "fenced-tool_calls": (
        "groq/groq-typescript#28",
        f'```\n{{"tool_calls": [{{"id": "a", "type": "function", "function": {_CALL_JSON}}}]}}\n```',
    ),
    "gemma-tool_code": ("Gemma 3", f'```tool_code\n{SEARCH}(query="plumber")\n```'),
    "gemma-4": ("Gemma 4", f'<|tool_call>call:{SEARCH}{{query:<|"|>plumber<|"|>}}<tool_call|>'),
    "deepseek-r1": (
        "DeepSeek R1",
        (
            f"<{_BAR}tool▁calls▁begin{_BAR}><{_BAR}tool▁call▁begin{_BAR}>function<{_BAR}tool▁sep{_BAR}>"
            f"{SEARCH}\n```json\n{ARGUMENTS_JSON}\n```<{_BAR}tool▁call▁end{_BAR}><{_BAR}tool▁calls▁end{_BAR}>"
        ),
    ),
    "deepseek-v3.1": (
        "DeepSeek V3.1",
        (
            f"<{_BAR}tool▁calls▁begin{_BAR}><{_BAR}tool▁call▁begin{_BAR}>{SEARCH}<{_BAR}tool▁sep{_BAR}>"
            f"{ARGUMENTS_JSON}<{_BAR}tool▁call▁end{_BAR}><{_BAR}tool▁calls▁end{_BAR}>"
        ),
    ),
    "deepseek-dsml": (
        "TokenRhythm/opensquilla#985",
        (
            f'<{_BAR}DSML{_BAR}tool_calls>\n<{_BAR}DSML{_BAR}invoke name="{SEARCH}">\n<{_BAR}DSML{_BAR}'
            f'parameter name="query" string="true">plumber</{_BAR}DSML{_BAR}parameter>\n</{_BAR}DSML{_BAR}'
            f"invoke>\n</{_BAR}DSML{_BAR}tool_calls>"
        ),
    ),
    "deepseek-dsml-two-bars": (
        "lsdefine/GenericAgent#804",
        (
            f"<{_BAR}{_BAR}DSML{_BAR}{_BAR}tool_calls>\n<{_BAR}{_BAR}DSML{_BAR}{_BAR}invoke "
            f'name="{SEARCH}">\n<{_BAR}{_BAR}DSML{_BAR}{_BAR}parameter name="query" string="true">plumber'
            f"</{_BAR}{_BAR}DSML{_BAR}{_BAR}parameter>\n</{_BAR}{_BAR}DSML{_BAR}{_BAR}invoke>\n"
            f"</{_BAR}{_BAR}DSML{_BAR}{_BAR}tool_calls>"
        ),
    ),
    "kimi": (
        "MoonshotAI/Kimi-K2#100",
        (
            f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{SEARCH}:0<|tool_call_argument_begin|>"
            f"{ARGUMENTS_JSON}<|tool_call_end|><|tool_calls_section_end|>"
        ),
    ),
    "minimax": (
        "MiniMax M2",
        (
            f'<minimax:tool_call>\n<invoke name="{SEARCH}">\n<parameter name="query">plumber</parameter>\n'
            "</invoke>\n</minimax:tool_call>"
        ),
    ),
    "claude": (
        "Claude behind gateways",
        (
            f'<function_calls>\n<invoke name="{SEARCH}">\n<parameter name="query">plumber</parameter>\n'
            "</invoke>\n</function_calls>"
        ),
    ),
    "granite": ("Granite", f"<|tool_call|>[{_CALL_JSON}]"),
    "phi": ("Phi-4 mini", f"<|tool_call|>[{_CALL_JSON}]<|/tool_call|>"),
    "functools": ("Phi-4 mini", f"functools[{_CALL_JSON}]"),
    "gpt-oss": (
        "NVIDIA/TensorRT-LLM#9256",
        f"<|channel|>commentary to=functions.{SEARCH} <|constrain|>json<|message|>{ARGUMENTS_JSON}<|call|>",
    ),
    "gpt-oss-recipient-first": (
        "vllm-project/vllm#32633",
        f"<|start|>assistant to=functions.{SEARCH}<|channel|>commentary json<|message|>{ARGUMENTS_JSON}",
    ),
    "gpt-oss-without-marks": (
        "raullenchai/Rapid-MLX#480",
        f"commentary to=functions.{SEARCH} json{ARGUMENTS_JSON}",
    ),
    "gpt-oss-after-thought": (
        "ml-explore/mlx-lm#1867",
        (
            f"<|channel|>analysis<|message|>{_THOUGHT}<|end|><|start|>assistant<|channel|>commentary "
            f"to=functions.{SEARCH} <|constrain|>json<|message|>{ARGUMENTS_JSON}<|call|>"
        ),
    ),
}

_FAILED_GENERATION = refuse(
    "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
    code="tool_use_failed",
    failed_generation=f"<function={SEARCH}>{ARGUMENTS_JSON}</function>",
)

CALLS_AS_TEXT = (
    *(
        Quirk(id=name, source=source, play=search_by_text(text))
        for name, (source, text) in _CALLS.items()
    ),
    *(
        Quirk(
            id=f"{name}-by-characters",
            source=_CALLS[name][0],
            play=search_by_text(*_split(_CALLS[name][1])),
        )
        for name in ("hermes", "qwen-coder", "llama-bare", "fenced", "kimi", "mistral", "gpt-oss")
    ),
    Quirk(
        id="hermes-after-words",
        source="ggml-org/llama.cpp#15012",
        play=search_by_text("I will look.\n\n", _HERMES),
        end=End(text=f"I will look.\n\n{ANSWER}"),
    ),
    Quirk(
        id="qwen-coder-after-words",
        source="ggml-org/llama.cpp#15012",
        play=search_by_text("I will look.\n\n", _CALLS["qwen-coder"][1]),
        end=End(text=f"I will look.\n\n{ANSWER}"),
    ),
    Quirk(
        id="hermes-after-thought",
        source="variant of W31",
        play=search_by_text(f"<think>\n{_THOUGHT}\n</think>\n\n", _HERMES),
        end=End(reasoning=_THOUGHT),
    ),
    Quirk(
        id="two-hermes",
        source="variant of W31",
        play=search_by_text(_HERMES, "\n", _HERMES.replace("plumber", "boiler")),
        end=End(calls=(ARGUMENTS, _OTHER)),
    ),
    Quirk(
        id="two-mistral",
        source="Mistral",
        play=search_by_text(
            f"[TOOL_CALLS][{_CALL_JSON}, {_CALL_JSON.replace('plumber', 'boiler')}]"
        ),
        end=End(calls=(ARGUMENTS, _OTHER)),
    ),
    Quirk(
        id="two-qwen-coder",
        source="pwilkin/llama.cpp#9",
        play=search_by_text(
            _CALLS["qwen-coder"][1], "\n", _CALLS["qwen-coder"][1].replace("plumber", "boiler")
        ),
        end=End(calls=(ARGUMENTS, _OTHER)),
    ),
    Quirk(
        id="hermes-in-reasoning",
        source="vLLM: a call inside the thought, and no content",
        play=search_by(
            {"reasoning_content": f"{_THOUGHT}\n"},
            {"reasoning_content": _HERMES},
            finish_reason="stop",
        ),
        end=End(reasoning=_THOUGHT),
    ),
    Quirk(
        id="a-number-as-parameter",
        source="NousResearch/hermes-agent#119261",
        play=search_by_text(
            f"<tool_call>\n<function={SEARCH}>\n<parameter=query>\nplumber\n</parameter>\n"
            "<parameter=limit>\n3\n</parameter>\n</function>\n</tool_call>"
        ),
        end=End(calls=({"query": "plumber", "limit": 3},)),
    ),
    Quirk(
        id="a-failed-generation",
        source="groq/groq-typescript#28",
        play=play_in_turn(always(_FAILED_GENERATION), behave),
        extra=1,
        is_kept=False,
    ),
)

_PROSE = (
    "In this format a call is written as `<tool_call>{…}</tool_call>`, and a thought as `<think>`.",
    'Write it like this:\n\n```json\n{"name": "Ann", "arguments": {"query": "plumber"}}\n```',
    '{"name": "Ann", "phone": "0123"}',
    "If a < b and b > c, then <b>it</b> comes first. I <3 it.",
    "The plumber <think about it> comes on Tuesday.",
    "[1] says Tuesday. [Ann](https://example.org) says nine.",
    "final answer: the analysis says Tuesday",
    "analysis of the week: the plumber comes on Tuesday.",
    f"I could use {SEARCH} for that, with a query.",
    "The file ends with `</think>` in line 3.",
    "<details>\n<summary>Plumber</summary>\nTuesday at nine.\n</details>",
    "$[x]$ and {y} and [TOOL] and <|x|> stay.",
)
PROSE = (
    *(
        Quirk(
            id=f"{number}-{name}",
            source="an answer that is none of them",
            play=say(*pieces),
            end=end,
        )
        for number, text in enumerate(_PROSE)
        for name, pieces in (("whole", [text]), ("by-characters", _split(text)))
        for end in (End(text=text, calls=()),)
    ),
    Quirk(
        id="a-call-quoted-by-one-that-calls-natively",
        source="DESIGN 12: what a tool returned is never a call",
        play=search_by(
            {"tool_calls": [call(index=0, id="a")]},
            then=say(f"Ann wrote: {_HERMES}\n\nNothing else."),
        ),
        end=End(text=f"Ann wrote: {_HERMES}\n\nNothing else."),
    ),
)
