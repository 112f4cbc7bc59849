// Drives a shim as its host would, without the host: events in the host's order, on a session file that grows. Reads one
// JSON object of settings from the first argument and prints one of measurements, all in milliseconds.
import { appendFileSync, closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { extension, file, project, turns, scratch, anchor } = JSON.parse(process.argv[2]);
const lines = readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const header = lines.shift();
const entries = lines;
const messages = entries.map((entry) => entry.message);
let handlers = new Map();

const ui = { notify() {}, confirm: async () => false, select: async () => undefined, setStatus() {}, custom: async () => undefined };
const ctx = {
  ui, mode: "rpc", hasUI: true, cwd: project, signal: undefined, model: undefined,
  isProjectTrusted: () => true, getContextUsage: () => ({ tokens: 1, contextWindow: 2, percent: 0 }),
  sessionManager: {
    getSessionId: () => header.id, getSessionFile: () => file, getLeafId: () => entries.at(-1)?.id ?? null,
    getEntry: (id) => entries.find((entry) => entry.id === id), getBranch: () => entries, getEntries: () => entries,
    getHeader: () => header,
  },
};
const pi = {
  on: (name, handler) => handlers.set(name, [...(handlers.get(name) ?? []), handler]),
  registerTool() {}, registerCommand() {}, appendEntry() {}, events: { emit() {}, on: () => () => {} },
};
const emit = async (name, event = {}) => {
  let answer;
  for (const handler of handlers.get(name) ?? []) answer = await handler({ type: name, ...event }, ctx);
  return answer;
};
const timed = async (work) => {
  const begun = performance.now();
  const answer = await work();
  return [performance.now() - begun, answer];
};
const say = (role, text) => {
  const message = { role, content: [{ type: "text", text }], timestamp: Date.now(), ...(role === "assistant" ? { stopReason: "stop" } : {}) };
  const entry = { type: "message", id: (entries.length + 1).toString(16).padStart(8, "0"), parentId: entries.at(-1)?.id ?? null,
    timestamp: new Date().toISOString(), message };
  entries.push(entry);
  messages.push(message);
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
};
const synced = () => {
  const fd = openSync(scratch, "a");
  writeSync(fd, "x".repeat(2000));
  const begun = performance.now();
  fsyncSync(fd);
  closeSync(fd);
  return performance.now() - begun;
};

const load = (await import(pathToFileURL(extension))).default;
const start = async (reason) => {
  handlers = new Map();
  await load(pi);
  await emit("session_start", { reason });
};
const out = { miss: [], hit: [], settled: [], sync: [], shown: 0 };
[out.start] = await timed(() => start("startup"));
for (let turn = -5; turn < turns; turn += 1) {
  say("user", `Question ${turn} of this bench: what did we decide about the harbour, the vault and number ${turn}?`);
  const [miss, patch] = await timed(() => emit("context", { messages: [...messages] }));
  const [hit] = await timed(() => emit("context", { messages: [...messages] }));
  say("assistant", `Answer ${turn}: the harbour office keeps the vault, and number ${turn} is noted.`);
  await emit("turn_end");
  const [settled] = await timed(async () => {
    await emit("agent_end", { messages: anchor ? messages : messages.slice(-2) });
    await emit("agent_settled", { aborted: false });
  });
  const sync = synced();
  await new Promise((resolve) => setTimeout(resolve, 30)); // what is sent in the background is not part of the next turn
  if (turn < 0) continue;
  out.miss.push(miss);
  out.hit.push(hit);
  out.settled.push(settled);
  out.sync.push(sync);
  out.shown += patch ? 1 : 0;
}
if (!anchor) {
  await emit("session_shutdown", { reason: "new" });
  [out.replaced] = await timed(() => start("new"));
}
const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim().split(" ");
const status = readFileSync(`/proc/${children[0]}/status`, "utf8");
out.rss = Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024;
await emit("session_shutdown", { reason: "quit" });
console.log(JSON.stringify(out));
process.exit(0);
