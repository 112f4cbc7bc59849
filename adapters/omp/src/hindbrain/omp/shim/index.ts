// The half of the shim that only omp has: which events there are and how omp spells a message, a tool and a command.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@oh-my-pi/pi-coding-agent";
import { type Dialect, Shim, configBeside, isFirst, runningVersion, safe } from "./core.ts";

type Registry = ExtensionContext["modelRegistry"];
type Model = NonNullable<ReturnType<Registry["find"]>>;
type Completed = { usage: unknown };
type CompleteSimple = (model: Model, context: object, options: object) => Promise<Completed>;

function dialectOf(pi: ExtensionAPI): Dialect<ExtensionContext> {
  return {
    name: "omp",
    // omp ends a session's handlers after 2 s.
    leaving: 1700,
    takesOver: true,
    agentDir: () => pi.pi?.getAgentDir?.() || process.env["PI_CODING_AGENT_DIR"] || join(homedir(), ".omp", "agent"),
    hostVersion: () => pi.pi?.VERSION || runningVersion(),
    kind: kindOf,
    block: (text, timestamp) => ({ role: "user", content: [{ type: "text", text }], synthetic: true, timestamp }),
    registerTool({ name, label, description, parameters }, run) {
      // Without the first of these the model meets a tool only behind another one; without the second it is asked for.
      pi.registerTool({ name, label, description, parameters: parameters as ToolDefinition["parameters"],
        loadMode: "essential", approval: "read",
        async execute(id, args, signal, _update, ctx) {
          const { text, isError, details } = await run(id, args, signal, ctx);
          return { content: [{ type: "text", text }], details, isError };
        } });
    },
    registerCommand({ name, description }, complete, handler) {
      // omp waits for completions that come later, though its types do not say so.
      type Completions = NonNullable<Parameters<typeof pi.registerCommand>[1]["getArgumentCompletions"]>;
      const getArgumentCompletions = complete as unknown as Completions | undefined;
      pi.registerCommand(name, { description, handler, ...(getArgumentCompletions && { getArgumentCompletions }) });
    },
    async complete(ctx, { model, system, messages, tools, maxTokens, thinking }, signal) {
      const named = model as { provider: string; id: string } | null | undefined;
      const found = named ? ctx.modelRegistry.find(named.provider, named.id) : ctx.model;
      if (!found) throw new Error("no model");
      const { completeSimple } = (await import("@oh-my-pi/pi-ai")) as unknown as { completeSimple: CompleteSimple };
      const apiKey = await ctx.modelRegistry.getApiKey(found);
      const now = Date.now();
      const asked = (messages as object[]).map((message) => ({ timestamp: now, ...message }));
      const context = { systemPrompt: system ? [system] : [], messages: asked, ...(tools ? { tools } : {}) };
      const message = await completeSimple(found, context, { apiKey, maxTokens, signal,
        ...(thinking ? { reasoning: thinking } : {}) });
      return { message, usage: message.usage };
    },
    memory: async (ctx) => (await ctx.memory?.status())?.backend ?? null,
    model: (ctx, named) => (named ? ctx.modelRegistry.find(named.provider, named.id) : ctx.model),
    async compact(ctx, instructions) {
      let done = false;
      try {
        if (instructions === undefined) await ctx.compact({ onComplete: () => { done = true; } });
        else await ctx.compact(instructions).then(() => { done = true; });
      } catch { /* it was cancelled, or there was nothing to compact */ }
      return done;
    },
    async copy(text) {
      const { copyToClipboard } = (await import("@oh-my-pi/pi-coding-agent")) as unknown as { copyToClipboard: (text: string) => Promise<void> };
      await copyToClipboard(text);
    },
    // omp does not tell an extension what it keeps.
    limits: () => ({ reserve: null, keep: null }),
    watch: watchEscape,
  };
}

/** A subagent's session file lies in a folder that has the name of its parent's file. */
function kindOf(ctx: ExtensionContext): "main" | "sub" {
  const told = (ctx as { agent?: { kind?: unknown } }).agent?.kind;
  if (told === "main" || told === "sub") return told;
  const file = ctx.sessionManager.getSessionFile();
  return file && existsSync(`${dirname(file)}.jsonl`) ? "sub" : "main";
}

/** omp waits for a context handler to return before it aborts and says nothing to it, so the key itself is watched. */
function watchEscape(ctx: ExtensionContext): { signal: AbortSignal; stop(): void } | undefined {
  if (ctx.mode !== "tui" || !ctx.hasUI) return undefined;
  const abort = new AbortController();
  const stop = ctx.ui.onTerminalInput((data) => {
    if (data === "\x1b" || /^\x1b\[27(?:;1(?::1)?)?u$/.test(data)) abort.abort();
    return undefined;
  });
  return { signal: abort.signal, stop };
}

/** What fails here leaves omp as it is without us. omp runs this once more for every subagent in its process. */
export default async function hindbrain(pi: ExtensionAPI): Promise<void> {
  try {
    const config = configBeside(import.meta.url);
    if (!config || !isFirst(import.meta.url)) return;
    const shim = new Shim(pi, dialectOf(pi), config);
    attach(pi, shim);
    // Tools and commands have to be there before the session is built.
    await shim.offer();
  } catch { /* omp goes on without memory */ }
}

function attach(pi: ExtensionAPI, shim: Shim<ExtensionContext>): void {
  let stopped = false;
  pi.on("session_start", safe((_event, ctx) => shim.open(ctx, "startup")));
  pi.on("session_switch", safe((event, ctx) => shim.open(ctx, event.reason)));
  pi.on("session_branch", safe((_event, ctx) => shim.open(ctx, "fork")));
  pi.on("session_tree", safe((_event, ctx) => shim.open(ctx, "tree")));
  pi.on("agent_start", safe(async (_event, ctx) => {
    stopped = false;
    shim.turn(ctx, "start");
  }));
  pi.on("turn_end", safe(async (_event, ctx) => shim.turn(ctx, "end")));
  pi.on("session_before_compact", safe(({ preparation, customInstructions, signal }, ctx) => shim.compact(ctx,
    { firstKept: preparation.firstKeptEntryId, tokensBefore: preparation.tokensBefore, instructions: customInstructions ?? null },
    signal)));
  pi.on("context", safe((event, ctx) => shim.context(ctx, event.messages)));
  pi.on("session_stop", safe(async (event, ctx) => {
    stopped = true;
    await shim.settled(ctx, event.last_assistant_message);
  }));
  // Subagents and aborted runs have no session_stop.
  pi.on("agent_end", safe(async (event, ctx) => {
    if (event.willContinue) return;
    const told = stopped;
    stopped = false;
    if (!told) await shim.settled(ctx, event.messages.at(-1));
  }));
  pi.on("session_shutdown", safe(() => shim.close("quit", false)));
}
