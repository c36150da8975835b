"""The form of a plan, derived from the tools' declarations: a compact one for the local model, a plain one for remote
ones.

The local model writes a JSON list: how many steps, then each step as a list, ``[1,["open_app","calculator"]]``; no
steps, then words, ``[0,"You are welcome."]``. Committing to the number first keeps a small model from inventing
further steps, and a list costs about half the tokens that objects with names do. What is not a tool's first argument
stands by name in a last object: ``["get_time","time",{"place":"Oslo"}]``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from anovax.errors import PlanFormatError
from anovax.plan import MAX_STEPS, Plan, Step
from anovax.tool import Toolbox, ToolSpec

SAY_CHARACTERS = 240
# llguidance: no white space between tokens, so that a plan has one spelling
STRICT = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}


def arguments(spec: ToolSpec) -> dict[str, dict[str, Any]]:
    """The JSON schema of each argument of ``spec`` in declared order, without titles, defaults and descriptions."""
    return {name: _bare(prop) for name, prop in spec.args.model_json_schema().get("properties", {}).items()}


def _bare(prop: Mapping[str, Any]) -> dict[str, Any]:
    options = [option for option in prop.get("anyOf", ()) if option.get("type") != "null"]
    prop = options[0] if options else prop
    keep = ("type", "enum", "minLength", "maxLength", "minimum", "maximum")
    return {key: prop[key] for key in keep if key in prop}


def required(spec: ToolSpec) -> frozenset[str]:
    return frozenset(spec.args.model_json_schema().get("required", ()))


# --- the compact form ------------------------------------------------------------------------------------------------


def compact_schema(tools: Toolbox) -> dict[str, Any]:
    """JSON schema of ``[n, step × n]`` for n = 1…8 and of ``[0, words]``."""
    step = {"anyOf": [form for spec in tools.offered.values() for form in _forms(spec)]}
    words = _list([{"const": 0}, {"type": "string", "maxLength": SAY_CHARACTERS}])
    counts = [_list([{"const": n}, *[{"$ref": "#/$defs/step"}] * n]) for n in range(1, MAX_STEPS + 1)]
    return {"$defs": {"step": step}, "anyOf": [words, *counts], "x-guidance": STRICT}


def _forms(spec: ToolSpec) -> list[dict[str, Any]]:
    name, args = {"const": spec.name}, arguments(spec)
    if not args:
        return [_list([name])]
    first, *rest = args
    alone = {"minLength": 1, **args[first]} if args[first].get("type") == "string" else args[first]
    forms = [_list([name, alone])]  # an empty first argument only makes sense beside named ones
    if first not in required(spec):
        forms.append(_list([name]))
    if rest:
        forms.append(_list([name, args[first], _named({key: args[key] for key in rest}, required(spec) & set(rest))]))
    return forms


def _list(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"type": "array", "prefixItems": list(items), "items": False, "minItems": len(items)}


def _named(properties: Mapping[str, Any], needed: frozenset[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": sorted(needed),
        "minProperties": 1,
        "additionalProperties": False,
    }


def write_compact(plan: Plan, tools: Toolbox) -> str:
    """``plan`` in the compact form, as the model would write it."""
    if not plan.steps:
        return _dump([0, plan.say])
    return _dump([len(plan.steps), *(write_step(step, tools) for step in plan.steps)])


def write_step(step: Step, tools: Toolbox) -> list[Any]:
    given = step.args.model_dump(mode="json", exclude_defaults=True)
    names = list(arguments(tools.spec(step.tool)))
    rest = {key: given[key] for key in names[1:] if key in given}
    if not names or (names[0] not in given and not rest):
        return [step.tool]
    return [step.tool, given.get(names[0], ""), *([rest] if rest else [])]


def read_compact(text: str, tools: Toolbox) -> Plan:
    """The Plan that ``text`` stands for. Raises PlanFormatError when it is none."""
    try:
        count, *items = json.loads(text)
        if count == 0:
            return Plan(say=str(items[0]).strip())
        if count != len(items):
            raise ValueError(text)
        steps = tuple(_step(item, tools) for item in items)
    except (ValueError, TypeError, IndexError):
        raise PlanFormatError("The planner's answer is not a plan", "ask again") from None
    return Plan(steps=steps)


def _step(item: Sequence[Any], tools: Toolbox) -> Step:
    name, values = str(item[0]), list(item[1:])
    names = list(arguments(tools.spec(name)))
    named = dict(values.pop()) if values and isinstance(values[-1], Mapping) else {}
    return Step.parse({"tool": name, **dict(zip(names, values, strict=False)), **named}, tools)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- the plain form, for remote backends ------------------------------------------------------------------------------


def plain_schema(tools: Toolbox) -> dict[str, Any]:
    """JSON schema of Plan.to_json(): ``{"steps": [{"tool", …arguments}], "say", "remember"}``."""
    return {
        "type": "object",
        "properties": {
            "steps": {
                "type": "array",
                "maxItems": MAX_STEPS,
                "items": {"anyOf": [_object(s) for s in tools.offered.values()]},
            },
            "say": {"type": "string"},
            "remember": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["steps", "say", "remember"],
        "additionalProperties": False,
    }


def _object(spec: ToolSpec) -> dict[str, Any]:
    """Without lengths: llama.cpp's servers write them out character by character and give up; Plan.parse checks."""
    lengths = ("minLength", "maxLength")
    given = {
        name: {key: value for key, value in schema.items() if key not in lengths}
        for name, schema in arguments(spec).items()
    }
    return {
        "type": "object",
        "properties": {"tool": {"type": "string", "enum": [spec.name]}, **given},
        "required": ["tool", *sorted(required(spec))],
        "additionalProperties": False,
    }
