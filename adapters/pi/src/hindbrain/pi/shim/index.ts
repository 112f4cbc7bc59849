// The half of the shim that only pi has: which events there are and how pi spells a message, a tool and a command.
import { homedir } from "node:os";
import { join } from "node:path";
import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { type Dialect, Shim, configBeside, runningVersion, safe } from "./core.ts";

type Complete = ExtensionContext["modelRegistry"]["complete"];

function dialectOf(pi: ExtensionAPI): Dialect<ExtensionContext> {
  return {
    name: "pi",
    leaving: 4000,
    takesOver: false,
    agentDir: () => process.env["PI_CODING_AGENT_DIR"] || join(homedir(), ".pi", "agent"),
    hostVersion: runningVersion,
    kind: () => "main",
    block: (content, timestamp) => ({ role: "custom", customType: "hindsight-memory", content, display: false, timestamp }),
    registerTool({ name, label, description, parameters }, run) {
      pi.registerTool({ name, label, description, parameters: parameters as ToolDefinition["parameters"],
        async execute(id, args, signal, _update, ctx) {
          const { text, isError, details } = await run(id, args, signal, ctx);
          return { content: [{ type: "text", text }], details, isError };
        } });
    },
    registerCommand({ name, description }, complete, handler) {
      pi.registerCommand(name, { description, handler, ...(complete && { getArgumentCompletions: complete }) });
    },
    async complete(ctx, { model, system, messages, tools, maxTokens, thinking }, signal) {
      const named = model as { provider: string; id: string } | null | undefined;
      const found = named ? ctx.modelRegistry.find(named.provider, named.id) : ctx.model;
      if (!found) throw new Error("no model");
      const now = Date.now();
      const asked = (messages as object[]).map((message) => ({ timestamp: now, ...message }));
      const head = { role: "system", content: system ?? "", timestamp: now, ...(tools ? { toolsAdded: tools } : {}) };
      const context = { messages: [head, ...asked] } as unknown as Parameters<Complete>[1];
      const options = { maxTokens, signal, cacheRetention: "none", ...(thinking ? { reasoning: thinking } : {}) };
      const message = await ctx.modelRegistry.complete(found, context, options as Parameters<Complete>[2]);
      return { message, usage: message.usage };
    },
    memory: async () => null,
    model: (ctx, named) => (named ? ctx.modelRegistry.find(named.provider, named.id) : ctx.model),
    compact: (ctx, customInstructions) => new Promise((resolve) => {
      ctx.compact({ ...(customInstructions !== undefined && { customInstructions }),
        onComplete: () => resolve(true), onError: () => resolve(false) });
    }),
    async copy(text) {
      const { copyToClipboard } = await import("@earendil-works/pi-coding-agent");
      await copyToClipboard(text);
    },
    limits() {
      const { reserveTokens, keepRecentTokens } = pi.getSettings().compaction ?? {};
      return { reserve: reserveTokens ?? null, keep: keepRecentTokens ?? null };
    },
  };
}

/** pi refuses to start when this throws, so nothing does. */
export default function hindbrain(pi: ExtensionAPI): void {
  try {
    const config = configBeside(import.meta.url);
    if (config) attach(pi, new Shim(pi, dialectOf(pi), config));
  } catch { /* pi goes on without memory */ }
}

function attach(pi: ExtensionAPI, shim: Shim<ExtensionContext>): void {
  pi.on("session_start", safe((event, ctx) => shim.open(ctx, event.reason)));
  pi.on("session_tree", safe((_event, ctx) => shim.open(ctx, "tree")));
  pi.on("agent_start", safe(async (_event, ctx) => shim.turn(ctx, "start")));
  pi.on("turn_end", safe(async (_event, ctx) => shim.turn(ctx, "end")));
  pi.on("session_before_compact", safe(({ preparation, customInstructions, reason, signal }, ctx) => shim.compact(ctx,
    { firstKept: preparation.firstKeptEntryId, tokensBefore: preparation.tokensBefore, reason, instructions: customInstructions ?? null },
    signal)));
  pi.on("agent_before_settle", safe(async (event, ctx) => {
    const made = event.continue ? undefined : await shim.boundary(ctx);
    if (!made) return undefined;
    const { summary, firstKeptEntryId, details } = made;
    return { entries: [...event.entries, { type: "compaction" as const, summary, firstKeptEntryId, details }] };
  }));
  pi.on("context", safe((event, ctx) => shim.context(ctx, event.messages, ctx.signal)));
  pi.on("agent_end", safe(async (event) => shim.ended(event.messages.at(-1))));
  pi.on("agent_settled", safe((event, ctx) => shim.settled(ctx, event.aborted ? { stopReason: "aborted" } : undefined)));
  // Quitting ends the sidecar; every other reason loads this file again, and the next session takes the sidecar over.
  pi.on("session_shutdown", safe((event) => shim.close(event.reason, event.reason !== "quit")));
}
