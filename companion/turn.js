// What is going on, folded from events. Pure: no document, no network.

export function empty() {
  return {
    turn: "", text: "", source: "", hearing: "", planned: [], steps: [], questions: new Map(), said: "", ok: true,
    refused: "", recovering: false, stopped: false, busy: false, muted: false, watchers: 0, notices: [],
  };
}

const FOLD = {
  TurnStarted: (s, e) => Object.assign(s, empty(), keep(s), { turn: e.turn, text: e.text, source: e.source, busy: true }),
  PartialTranscribed: (s, e) => { s.hearing = e.text; },
  Transcribed: (s, e) => { s.hearing = e.text; },
  UtteranceEnded: (s, e) => { if (["empty", "cancelled"].includes(e.reason)) s.hearing = ""; },
  PlanMade: (s, e) => { s.planned = e.plan.steps ?? []; s.planFrom = s.steps.length; },
  Judged: (s, e) => { if (e.decision === "refuse") s.refused = e.reason; },
  ConsentAsked: (s, e) => s.questions.set(e.consent, { ...e, answer: "" }),
  ConsentAnswered: (s, e) => { const asked = s.questions.get(e.consent); if (asked) asked.answer = e.answer; },
  StepQueued: (s, e) => s.steps.push({ step: e.step, tool: e.tool, agent: e.agent, label: e.label, state: "queued", attempt: 1 }),
  StepWaiting: (s, e) => change(s, e, { state: "waiting", lock: e.lock }),
  StepStarted: (s, e) => change(s, e, { state: "running", attempt: e.attempt, since: e.at }),
  StepRetrying: (s, e) => change(s, e, { state: "retrying", attempt: e.attempt, error: e.error }),
  StepFinished: (s, e) => change(s, e, { state: e.status, evidence: e.evidence, error: e.error, attempts: e.attempts, ms: e.ms }),
  RecoveryStarted: (s) => { s.recovering = true; },
  RecoveryEnded: (s) => { s.recovering = false; },
  TurnFinished: (s, e) => {
    Object.assign(s, { said: e.said, ok: e.ok, busy: false, recovering: false, planned: [] });
    for (const asked of s.questions.values()) asked.answer ||= "expired";
  },
  StopRequested: (s) => { s.stopped = true; },
  Muted: (s, e) => { s.muted = e.on; },
  ScreenWatched: (s, e) => { s.watchers = e.watchers; },
  Noticed: (s, e) => { if (e.level !== "info" || e.turn) notice(s, e); },
  DeviceTroubled: (s, e) => notice(s, { text: `${e.device}: ${e.problem}. ${e.fix}`, level: "warning", at: e.at }),
};

/** Take one event into the state; returns the state. Kinds that the page does not show change nothing. */
export function fold(state, event) {
  FOLD[event.kind]?.(state, event);
  return state;
}

/** The cards: steps that exist, then those that are still only planned. */
export function cards(state) {
  const begun = state.steps.length - (state.planFrom ?? 0);
  const rest = state.busy ? state.planned.slice(Math.max(0, begun)) : [];
  return [...state.steps, ...rest.map((step) => ({ tool: step.tool, label: describe(step), state: "planned" }))];
}

function keep(state) {
  return { muted: state.muted, watchers: state.watchers, notices: state.notices };
}

/** The last three, each sentence once. */
function notice(state, fresh) {
  state.notices = [...state.notices.filter((old) => old.text !== fresh.text), fresh].slice(-3);
}

function change(state, event, values) {
  const step = state.steps.findLast((candidate) => candidate.step === event.step);
  if (step) Object.assign(step, values);
}

function describe(step) {
  const { tool, ...args } = step;
  const words = Object.values(args).filter((value) => ["string", "number"].includes(typeof value)).join(" ");
  const name = tool.replaceAll("_", " ");
  return `${name[0].toUpperCase()}${name.slice(1)} ${words}`.trim();
}
