// The half of the shim that pi and omp share: it starts the sidecar, speaks JSON-RPC with it, and applies its answers.
//
// Nothing is decided here. A host event becomes a call, an answer becomes a patch, and whatever goes wrong (no
// interpreter, a crash, a hang, garbage, a frame too large, a host object gone stale) becomes "no patch": the host's
// turn goes on. No function that a host calls throws. The protocol is described in docs/protocol.md.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const PROTOCOL = 1;
const FRAME_BYTES = 8 * 1024 * 1024;
/** One text of a user's message travels up to this many characters; the whole is in the session file. */
const TEXT_CHARS = 256 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const LF = 0x0a;

const CODE = { method: -32601, internal: -32603, cancelled: -32800, late: -32801, session: -32802, large: -32803,
  protocol: -32804, moved: -32805 } as const;

/** How long each call may take, in milliseconds. */
export const DEADLINE = { initialize: 5000, open: 2000, context: 6000, settled: 5000, close: 2500, turn: 5000,
  compact: 5000, boundary: 1000, tool: 60_000,
  command: 120_000, complete: 1000, ping: 2000, served: 600_000 } as const;
/** The host's start waits this long for a sidecar that may hang; what it offers is registered when it answers. */
const START_WAIT = 2000;
/** A replaced session's sidecar waits this long for the next session of its process. */
const GRACE = 10_000;
const RESTARTS = 5;
const QUIET = 5 * 60_000;
const BACKOFF = 250;
/** Only a miss of a deadline this long makes us ask whether the sidecar is there at all. */
const DOUBTFUL = 5000;

export type Fields = Record<string, unknown>;
type Outcome = "completed" | "aborted" | "error";
export interface Config { command: string[]; version: string }
export interface ToolSpec { name: string; label: string; description: string; parameters: Fields }
export interface CommandSpec { name: string; description: string; completes: boolean }
export interface Completion { value: string; label: string; description?: string }
export interface ToolAnswer { text: string; isError: boolean; details: unknown }
interface Hello { protocol: number; version: string; tools: ToolSpec[]; commands: CommandSpec[] }
interface Patch { append?: string; prepend?: string }
interface Compacted { summary?: string; firstKept?: string; tokensBefore?: number; details?: unknown; cancel?: boolean; text?: string }
/** What a host says of the compaction it is about to make. */
export interface CompactionAsk { firstKept: string; tokensBefore: number; reason?: string; instructions?: string | null | undefined }
/** What a host keeps free of the model's window, and how much of the conversation's end it keeps; null where it does not say. */
export interface Limits { reserve: number | null; keep: number | null }
/** A compaction as both hosts take it. */
export interface CompactionResult { summary: string; firstKeptEntryId: string; tokensBefore: number; details?: unknown }

/** What both hosts' context objects have in common, as far as it is used here. */
export interface Context {
  ui: {
    notify(message: string, level?: "info" | "warning" | "error"): void;
    confirm(title: string, message: string, options?: { signal?: AbortSignal }): Promise<boolean>;
    select(title: string, options: string[], more?: { signal?: AbortSignal }): Promise<string | undefined>;
    setStatus(key: string, text: string | undefined): void;
    custom<T>(factory: (tui: Screen, theme: unknown, keys: unknown, done: (value: T) => void) => View): Promise<T>;
  };
  mode: string;
  hasUI: boolean;
  cwd: string;
  sessionManager: {
    getSessionId(): string;
    getSessionFile(): string | undefined;
    getLeafId(): string | null;
    getHeader(): { parentSession?: string } | null;
    getEntry(id: string): unknown;
  };
  getContextUsage(): { tokens: number | null; contextWindow: number } | undefined;
  getSystemPrompt(): string | string[];
  isIdle(): boolean;
  isProjectTrusted(): boolean;
}

/** What both hosts' extension objects have in common, as far as it is used here. */
export interface Api {
  appendEntry(customType: string, data?: unknown): void;
  events: { emit(channel: string, data: unknown): void };
}

/** A model as both hosts describe it. */
export interface ModelSpec { provider: string; id: string; contextWindow?: number | null; maxTokens?: number | null; reasoning?: boolean }

/** How one host spells what the other spells otherwise. */
export interface Dialect<C extends Context> {
  name: "pi" | "omp";
  /** How long the host lets the end of a session take, in milliseconds. */
  leaving: number;
  /** Whether a session that another copy of us has is taken over (the host has made a new one) or left to it. */
  takesOver: boolean;
  agentDir(): string;
  hostVersion(): string;
  kind(ctx: C): "main" | "sub";
  /** The message of a block that is shown to the model once and never stored. */
  block(text: string, timestamp: number): unknown;
  registerTool(spec: ToolSpec, run: (id: string, args: unknown, signal: AbortSignal | undefined, ctx: C) => Promise<ToolAnswer>): void;
  registerCommand(spec: CommandSpec, complete: ((prefix: string) => Promise<Completion[] | null>) | undefined,
    run: (args: string, ctx: C) => Promise<void>): void;
  complete(ctx: C, params: Fields, signal: AbortSignal): Promise<{ message: unknown; usage: unknown }>;
  memory(ctx: C): Promise<string | null>;
  /** A model of the host by its names, or the session's own. */
  model(ctx: C, named: { provider: string; id: string } | null): ModelSpec | undefined;
  /** Compact the session; whether it was. */
  compact(ctx: C, instructions: string | undefined): Promise<boolean>;
  /** Put a text on the clipboard by the host's own helper, which throws where it cannot. */
  copy(text: string): Promise<void>;
  limits(): Limits;
  /** A signal that fires when the user aborts while the host offers none, and how to stop watching. */
  watch?(ctx: C): { signal: AbortSignal; stop(): void } | undefined;
}

export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Read `shim.json` beside a module; undefined where it is missing or says nothing usable. */
export function configBeside(url: string): Config | undefined {
  try {
    const read = JSON.parse(readFileSync(join(dirname(fileURLToPath(url)), "shim.json"), "utf8")) as Partial<Config>;
    const { command, version } = read;
    const usable = Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === "string");
    return usable ? { command, version: String(version ?? "") } : undefined;
  } catch {
    return undefined;
  }
}

/** The version of the program that runs this process, from the package.json above its main module; "" if none tells. */
export function runningVersion(): string {
  try {
    let folder = dirname(realpathSync(process.argv[1] ?? ""));
    for (let up = 0; up < 4; up += 1, folder = dirname(folder)) {
      try {
        const read = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version?: unknown };
        if (typeof read.version === "string") return read.version;
      } catch { /* not here */ }
    }
  } catch { /* no main module */ }
  return "";
}

/** What a promise gives within a time, or undefined. */
async function within<T>(promise: Promise<T>, ms: number, signal?: AbortSignal): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop: (() => void) | undefined;
  const given = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    timer = setTimeout(stop, Math.max(0, ms));
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
  });
  try {
    return await Promise.race([promise, given]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    if (stop) signal?.removeEventListener("abort", stop);
  }
}

type Serve = (method: string, params: Fields, signal: AbortSignal) => Promise<unknown>;
interface Waiting { resolve(value: unknown): void; reject(error: Error): void }

/** JSON-RPC 2.0 both ways over one child's stdin and stdout: one object a line, the line ends at the byte 0x0A. */
class Connection {
  readonly child: ChildProcess;
  #serve: Serve;
  #next = 0;
  #heard = 0;
  #closed = false;
  #parts: Buffer[] = [];
  #size = 0;
  #calls = new Map<number, Waiting>();
  #served = new Map<string | number, AbortController>();

  constructor(child: ChildProcess, serve: Serve) {
    this.child = child;
    this.#serve = serve;
    child.stdin?.on("error", () => this.close("its pipe broke"));
    child.stdout?.on("error", () => this.close("its pipe broke"));
    child.stdout?.on("data", (data: Buffer) => this.#read(data));
  }

  /** Call the sidecar; rejects with RpcError at the deadline, at an abort, on an error answer and when it is gone. */
  call(method: string, params: Fields, ms: number, signal?: AbortSignal): Promise<unknown> {
    const id = ++this.#next;
    const heard = this.#heard;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        this.#calls.delete(id);
      };
      const giveUp = (code: number, why: string): void => {
        end();
        this.notify("$/cancel", { id });
        reject(new RpcError(code, why));
      };
      const abort = (): void => giveUp(CODE.cancelled, "It was cancelled.");
      const timer = setTimeout(() => {
        giveUp(CODE.late, "Memory did not answer in time.");
        if (ms >= DOUBTFUL && this.#heard === heard && method !== "initialize") this.#doubt();
      }, Math.max(1, ms));
      this.#calls.set(id, {
        resolve: (value) => { end(); resolve(value); },
        reject: (error) => { end(); reject(error); },
      });
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort, { once: true });
      const problem = this.#write({ jsonrpc: "2.0", id, method, params });
      if (problem) this.#calls.get(id)?.reject(problem);
    });
  }

  notify(method: string, params: Fields): void {
    this.#write({ jsonrpc: "2.0", method, params });
  }

  /** Let go of all callers and stop all that is served; the child is ended by whoever started it. */
  close(why: string): void {
    this.#closed = true;
    for (const waiting of [...this.#calls.values()]) waiting.reject(new RpcError(CODE.internal, `Memory is gone: ${why}.`));
    for (const served of this.#served.values()) served.abort();
  }

  /** A child that does not answer even this hangs, and the next call shall meet a new one. */
  #doubt(): void {
    const heard = this.#heard;
    this.call("$/ping", {}, DEADLINE.ping).catch(() => {
      if (this.#heard === heard) this.child.kill("SIGKILL");
    });
  }

  #write(frame: Fields): RpcError | undefined {
    if (this.#closed || !this.child.stdin?.writable) return new RpcError(CODE.internal, "Memory is not running.");
    let line: string;
    try {
      line = JSON.stringify(frame);
    } catch {
      return new RpcError(CODE.internal, "The host gave something that JSON cannot hold.");
    }
    if (Buffer.byteLength(line) > FRAME_BYTES) return new RpcError(CODE.large, "A message was too large to be sent.");
    this.child.stdin.write(`${line}\n`);
    return undefined;
  }

  #read(data: Buffer): void {
    let rest = data;
    for (let at = rest.indexOf(LF); at >= 0; at = rest.indexOf(LF)) {
      const line = this.#parts.length > 0 ? Buffer.concat([...this.#parts, rest.subarray(0, at)]) : rest.subarray(0, at);
      this.#parts = [];
      this.#size = 0;
      rest = rest.subarray(at + 1);
      this.#take(line.toString("utf8"));
    }
    if (rest.length === 0) return;
    this.#parts.push(rest);
    this.#size += rest.length;
    if (this.#size > FRAME_BYTES) this.child.kill("SIGKILL");
  }

  #take(line: string): void {
    let frame: Fields;
    try {
      frame = JSON.parse(line) as Fields;
    } catch {
      return;
    }
    if (typeof frame !== "object" || frame === null || frame["jsonrpc"] !== "2.0") return;
    this.#heard += 1;
    const id = frame["id"];
    if (typeof frame["method"] === "string") {
      void this.#answer(id, frame["method"], (frame["params"] ?? {}) as Fields);
      return;
    }
    const waiting = this.#calls.get(id as number);
    const error = frame["error"] as { code?: unknown; message?: unknown } | undefined;
    if (error) waiting?.reject(new RpcError(Number(error.code), String(error.message)));
    else waiting?.resolve(frame["result"]);
  }

  async #answer(id: unknown, method: string, params: Fields): Promise<void> {
    if (method === "$/cancel") {
      this.#served.get(params["id"] as number)?.abort();
      return;
    }
    const abort = new AbortController();
    const known = typeof id === "number" || typeof id === "string";
    if (known) this.#served.set(id, abort);
    const timer = setTimeout(() => abort.abort(), DEADLINE.served);
    unref(timer);
    let answer: Fields;
    try {
      answer = { result: (await this.#serve(method, params, abort.signal)) ?? {} };
      if (abort.signal.aborted) answer = { error: { code: CODE.cancelled, message: "It was cancelled." } };
    } catch (error) {
      // What a host's error says may hold the session's own words; the sidecar logs codes only, so none is sent.
      const told = error instanceof RpcError ? error : new RpcError(CODE.internal, "The host could not do that.");
      answer = { error: { code: told.code, message: told.message } };
    }
    clearTimeout(timer);
    if (!known) return;
    this.#served.delete(id);
    const problem = this.#write({ jsonrpc: "2.0", id, ...answer });
    if (problem) this.#write({ jsonrpc: "2.0", id, error: { code: problem.code, message: problem.message } });
  }
}

/** One session as the sidecar knows it. `on` is the connection on which it was opened. */
interface Seat { api: Api; ctx: Context; open: Fields; serve: Serve; on?: Connection }
interface Answer { result?: unknown; error?: RpcError }

/** The child of this process: counted, restarted with backoff, and kept while one session replaces another. */
class Sidecar {
  readonly seats = new Map<string, Seat>();
  #command: string[];
  #greeting: Fields;
  #refs = 0;
  #failures = 0;
  #goneAt = 0;
  #refused = false;
  #notice: string | undefined;
  #connection: Connection | undefined;
  #ready: Promise<Hello | undefined> | undefined;
  #grace: ReturnType<typeof setTimeout> | undefined;
  #running = new Set<Promise<unknown>>();

  constructor(command: string[], greeting: Fields) {
    this.#command = command;
    this.#greeting = greeting;
  }

  get runs(): boolean { return this.#connection !== undefined; }

  /** Take part; the child is not ended before everyone has left. */
  join(): void {
    this.#refs += 1;
    clearTimeout(this.#grace);
  }

  /** Leave; where nobody stays, the child ends at once, or after a grace in which the next session may take it over. */
  async leave(keep: boolean, ms: number): Promise<void> {
    this.#refs = Math.max(0, this.#refs - 1);
    if (this.#refs > 0) return;
    if (!keep) return this.stop(ms);
    clearTimeout(this.#grace);
    this.#grace = setTimeout(() => { if (this.#refs === 0) this.stop(DEADLINE.close).catch(() => undefined); }, GRACE);
    unref(this.#grace);
  }

  /** Start the child unless it runs, must wait, or was refused; gives what it offers once it has answered. */
  start(): Promise<Hello | undefined> {
    if (this.#ready) return this.#ready;
    if (this.#refused || this.#mustWait()) return Promise.resolve(undefined);
    const [program = "", ...rest] = this.#command;
    let child: ChildProcess;
    try {
      child = spawn(program, rest, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    } catch {
      this.#failed("could not be started");
      return Promise.resolve(undefined);
    }
    const connection = new Connection(child, (method, params, signal) => this.#serve(method, params, signal));
    const gone = (why: string): void => {
      connection.close(why);
      if (this.#connection !== connection) return;
      this.#connection = this.#ready = undefined;
      this.#failed(why);
    };
    child.on("error", () => gone("could not be started"));
    child.on("exit", () => gone("ended"));
    // It has to be read, or the child would stand still; it is never shown, for it may hold anything.
    child.stderr?.on("error", () => undefined);
    child.stderr?.resume();
    // The child does not keep the host alive; a call that waits does, by its deadline.
    for (const handle of [child, child.stdin, child.stdout, child.stderr]) unref(handle);
    this.#connection = connection;
    this.#ready = this.#greet(connection);
    return this.#ready;
  }

  /** Call the sidecar, opening the session that is meant where this child does not know it. Never rejects. */
  ask(method: string, params: Fields, ms: number, signal?: AbortSignal): Promise<Answer> {
    const asked = this.#ask(method, params, ms, signal).catch((error: unknown) => ({
      error: error instanceof RpcError ? error : new RpcError(CODE.internal, "Memory is not available."),
    }));
    this.#running.add(asked);
    void asked.finally(() => this.#running.delete(asked));
    return asked;
  }

  /** Wait for what is under way. */
  async drain(ms: number): Promise<void> {
    if (this.#running.size > 0) await within(Promise.all(this.#running), ms);
  }

  /** End the child: ask it to, close its stdin, and kill it if it is still there at the end of the time. */
  async stop(ms: number): Promise<void> {
    const connection = this.#connection;
    clearTimeout(this.#grace);
    this.#failures = 0;
    this.#connection = this.#ready = undefined;
    if (!connection) return;
    const { child } = connection;
    const until = performance.now() + ms;
    const isGone = (): boolean => child.exitCode !== null || child.signalCode !== null;
    const ended = new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      if (isGone()) resolve();
    });
    await within(connection.call("shutdown", {}, ms / 2), ms / 2);
    child.stdin?.end();
    await within(ended, until - performance.now());
    if (!isGone()) child.kill("SIGKILL");
    connection.close("it was stopped");
  }

  /** Tell the user one line, now or as soon as a session can show it. */
  tell(text?: string): void {
    this.#notice = text ?? this.#notice;
    for (const { ctx } of this.seats.values()) {
      if (!this.#notice) return;
      try {
        if (ctx.hasUI) ctx.ui.notify(this.#notice, "warning");
        else console.error(this.#notice);
        this.#notice = undefined;
      } catch { /* a context gone stale; the next one may do */ }
    }
  }

  async #ask(method: string, params: Fields, ms: number, signal?: AbortSignal): Promise<Answer> {
    const until = performance.now() + ms;
    const hello = await within(this.start(), ms, signal);
    const connection = this.#connection;
    if (!connection || !hello) throw new RpcError(CODE.internal, "Memory is not running.");
    const left = (): number => until - performance.now();
    const seat = this.seats.get(String(params["session"]));
    const open = async (): Promise<void> => {
      if (!seat) return;
      seat.on = connection;
      if (method !== "session/open") await connection.call("session/open", seat.open, Math.min(DEADLINE.open, left()), signal);
    };
    if (seat?.on !== connection) await open();
    try {
      return { result: await connection.call(method, params, left(), signal) };
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== CODE.session) throw error;
      await open();
      return { result: await connection.call(method, params, left(), signal) };
    }
  }

  async #greet(connection: Connection): Promise<Hello | undefined> {
    try {
      const hello = (await connection.call("initialize", this.#greeting, DEADLINE.initialize)) as Hello | null;
      if (hello?.protocol !== PROTOCOL) throw new RpcError(CODE.protocol, "");
      return hello;
    } catch (error) {
      if (error instanceof RpcError && error.code === CODE.protocol) this.#refuse(error.message);
      connection.child.kill("SIGKILL");
      return undefined;
    }
  }

  /** Let the next start not wait for its time; the limit of starts stays. */
  hurry(): void {
    this.#goneAt = Math.min(this.#goneAt, Date.now() - BACKOFF * 2 ** RESTARTS);
  }

  #refuse(said: string): void {
    this.#refused = true;
    const again = `Run "hindbrain install ${String(this.#greeting["host"])}" again.`;
    this.tell(said || `hindbrain: memory is off, for the extension and the memory process are of different versions. ${again}`);
  }

  #mustWait(): boolean {
    const since = Date.now() - this.#goneAt;
    if (since >= QUIET) this.#failures = 0;
    // The first time there is no wait: what one crash has cut off is taken up at once.
    return this.#failures >= RESTARTS || (this.#failures > 1 && since < BACKOFF * 2 ** this.#failures);
  }

  #failed(why: string): void {
    if (Date.now() - this.#goneAt >= QUIET) this.#failures = 0;
    this.#goneAt = Date.now();
    this.#failures += 1;
    if (this.#refused) return;
    const next = `Run "hindbrain doctor --host ${String(this.#greeting["host"])}" to see why.`;
    if (this.#failures === 1) {
      this.tell(`hindbrain: the memory process ${why}; the session goes on, without memory until it runs again. ${next}`);
    }
    if (this.#failures === RESTARTS) {
      this.tell(`hindbrain: the memory process ${why} ${RESTARTS} times; memory is off for some minutes. ${next}`);
    }
  }

  async #serve(method: string, params: Fields, signal: AbortSignal): Promise<unknown> {
    if (method === "host/emit" && params["session"] === undefined) {
      const [seat] = this.seats.values();
      return seat?.api.events.emit(String(params["channel"]), params["data"]);
    }
    const seat = this.seats.get(String(params["session"]));
    if (!seat) throw new RpcError(CODE.session, "This session is not open on the host.");
    return seat.serve(method, params, signal);
  }
}

/** A handler that never rejects: what fails in it leaves the host as it is without us. */
export function safe<E, C, R>(handler: (event: E, ctx: C) => Promise<R>): (event: E, ctx: C) => Promise<R | undefined> {
  return async (event, ctx) => {
    try {
      return await handler(event, ctx);
    } catch {
      return undefined;
    }
  };
}

function unref(handle: unknown): void {
  (handle as { unref?(): void } | null)?.unref?.();
}

interface Shared { sidecars: Map<string, Sidecar>; owners: Map<string, object>; origin?: string }

/** What outlives an extension: pi loads its extensions again at every new session, omp once more for every subagent. */
function shared(): Shared {
  const place = globalThis as unknown as Record<symbol, Shared | undefined>;
  return (place[Symbol.for("hindbrain.shim")] ??= { sidecars: new Map(), owners: new Map() });
}

/** Whether this module is the first of ours that this process has loaded, or that same one again. */
export function isFirst(url: string): boolean {
  const here = shared();
  here.origin ??= url;
  return here.origin === url;
}

/** Whether the user said this; omp lets itself speak as the user, too. */
function isSaid(message: Fields): boolean {
  return message["role"] === "user" && message["synthetic"] !== true;
}

/** How a run ended, as its last message says. */
function outcomeOf(last: object | undefined): Outcome {
  const reason = last && "stopReason" in last ? last.stopReason : undefined;
  return reason === "aborted" || reason === "error" ? reason : "completed";
}

/** One loaded extension. It owns the session it has opened; of two copies of us, only one does. */
export class Shim<C extends Context> {
  #api: Api;
  #dialect: Dialect<C>;
  #side: Sidecar;
  #joined = false;
  #session: string | undefined;
  #ctx: C | undefined;
  #unsettled: Outcome | undefined;
  #registered = new Set<string>();

  constructor(api: Api, dialect: Dialect<C>, config: Config) {
    this.#api = api;
    this.#dialect = dialect;
    const key = JSON.stringify([config.command, config.version, PROTOCOL]);
    const { sidecars } = shared();
    let side = sidecars.get(key);
    if (!side) {
      side = new Sidecar(config.command, { protocol: PROTOCOL, shim: config.version, host: dialect.name,
        hostVersion: dialect.hostVersion(), agentDir: dialect.agentDir(), pid: process.pid });
      sidecars.set(key, side);
    }
    this.#side = side;
  }

  /** Start the sidecar and register what it offers; returns when it has answered, or after a short wait anyway. */
  async offer(): Promise<void> {
    const offered = this.#side.start().then((hello) => this.#register(hello));
    await within(offered, START_WAIT);
  }

  /** Take a session, or the one the host has put in its place; nothing happens where another copy of us has it. */
  async open(ctx: C, reason: string): Promise<void> {
    const { owners } = shared();
    const session = ctx.sessionManager.getSessionId();
    if (owners.has(session) && owners.get(session) !== this && !this.#dialect.takesOver) return;
    if (this.#session !== undefined && this.#session !== session) await this.#part(reason, this.#dialect.leaving);
    if (!this.#joined) this.#side.join();
    this.#joined = true;
    owners.set(session, this);
    this.#session = session;
    this.#ctx = ctx;
    const open = { session, file: ctx.sessionManager.getSessionFile() ?? null, cwd: ctx.cwd, mode: ctx.mode, ui: ctx.hasUI,
      trusted: ctx.isProjectTrusted(), kind: this.#dialect.kind(ctx), reason,
      parent: ctx.sessionManager.getHeader()?.parentSession ?? null };
    this.#side.seats.set(session, { api: this.#api, ctx, open,
      serve: (method, params, signal) => serve(this.#api, this.#ctx ?? ctx, this.#dialect, method, params, signal) });
    this.#side.tell();
    await this.offer();
    await this.#side.ask("session/open", open, DEADLINE.open);
  }

  /** Put what memory says into the messages of one request, in place; undefined where nothing changes. */
  async context<M>(ctx: C, messages: M[], signal?: AbortSignal): Promise<{ messages: M[] } | undefined> {
    if (!this.#has(ctx)) return undefined;
    let at = messages.length - 1;
    while (at >= 0 && !isSaid(messages[at] as Fields)) at -= 1;
    const user = at < 0 ? null : (messages[at] as Fields);
    const watch = signal ? undefined : this.#dialect.watch?.(ctx);
    const params = { ...this.#place(ctx), user: lean(user) };
    const { result } = await this.#side.ask("session/context", params, DEADLINE.context, signal ?? watch?.signal);
    watch?.stop();
    const { append, prepend } = (result ?? {}) as Patch;
    if (!append && !prepend) return undefined;
    const stamp = Number(user?.["timestamp"]) || Date.now();
    if (append) messages.splice(at < 0 ? messages.length : at, 0, this.#dialect.block(append, stamp) as M);
    if (prepend) messages.unshift(this.#dialect.block(prepend, stamp) as M);
    return { messages };
  }

  /** A run begins, or a turn of it is over. Nobody waits: what follows from it is done beside the conversation. */
  turn(ctx: C, phase: "start" | "end"): void {
    if (this.#has(ctx)) void this.#side.ask("session/turn", { ...this.#place(ctx), phase }, DEADLINE.turn);
  }

  /** The compaction that memory has prepared; undefined leaves the host to summarise as it does without us. */
  async compact(ctx: C, asked: CompactionAsk, signal?: AbortSignal): Promise<{ cancel: true } | { compaction: CompactionResult } | undefined> {
    if (!this.#has(ctx)) return undefined;
    const { reserve } = this.#dialect.limits();
    const params = { ...this.#place(ctx), ...asked, ...this.#room(ctx), reserve };
    const { result } = await this.#side.ask("session/compact", params, DEADLINE.compact, signal);
    const { summary, firstKept, tokensBefore, details, cancel, text } = (result ?? {}) as Compacted;
    if (cancel) {
      if (text && ctx.hasUI) ctx.ui.notify(text, "info");
      return { cancel: true };
    }
    if (!summary || !firstKept) return undefined;
    return { compaction: { summary, firstKeptEntryId: firstKept, tokensBefore: tokensBefore ?? asked.tokensBefore, details } };
  }

  /** A compaction to append at the end of a run, where one is due. */
  async boundary(ctx: C): Promise<CompactionResult | undefined> {
    if (!this.#has(ctx)) return undefined;
    const params = { ...this.#place(ctx), ...this.#room(ctx), ...this.#dialect.limits() };
    const { result } = await this.#side.ask("session/before-settle", params, DEADLINE.boundary);
    const { summary, firstKept, tokensBefore = 0, details } = (result ?? {}) as Compacted;
    return summary && firstKept ? { summary, firstKeptEntryId: firstKept, tokensBefore, details } : undefined;
  }

  /** The model's window, and what of it the system prompt takes, as an estimate. */
  #room(ctx: C): { window: number | null; systemTokens: number } {
    const told = ctx.getSystemPrompt();
    const prompt = typeof told === "string" ? told : told.join("\n");
    return { window: ctx.getContextUsage()?.contextWindow ?? null, systemTokens: Math.ceil(prompt.length / 4) };
  }

  /** A run is over, but the host may go on by itself; should the session end before it settles, this is what is told. */
  ended(last: object | undefined): void {
    this.#unsettled = outcomeOf(last);
  }

  /** A turn has come to its end; what of it is remembered is durable when this returns. */
  async settled(ctx: C, last?: object): Promise<void> {
    const outcome = last ? outcomeOf(last) : (this.#unsettled ?? "completed");
    this.#unsettled = undefined;
    if (!this.#has(ctx)) return;
    const tell = (): Promise<Answer> => this.#side.ask("session/settled", { ...this.#place(ctx), outcome }, DEADLINE.settled);
    let { error } = await tell();
    // One that ended under it may have kept the turn or not. To say it again is safe: what is kept is known.
    if (error && !this.#side.runs) ({ error } = await tell());
    if (error) this.#unsettled = outcome;
  }

  /** The session ends. Where the host is about to begin another one in this process, the sidecar is kept for it. */
  async close(reason: string, keep: boolean): Promise<void> {
    if (!this.#joined) return;
    this.#joined = false;
    const until = performance.now() + this.#dialect.leaving;
    await this.#part(reason, this.#dialect.leaving * 0.6);
    await this.#side.leave(keep, until - performance.now());
  }

  async #part(reason: string, ms: number): Promise<void> {
    const session = this.#session;
    const ctx = this.#ctx;
    if (session === undefined || !ctx) return;
    const isMine = shared().owners.get(session) === this;
    // A turn that a dead sidecar did not take is told to a new one now: there is no later.
    if (this.#unsettled && isMine) this.#side.hurry();
    const last = this.#unsettled && isMine ? this.settled(ctx) : undefined;
    await within(Promise.all([last, this.#side.drain(ms / 2)]), ms * 0.8);
    if (this.#side.runs && isMine) await this.#side.ask("session/close", { session, reason }, Math.min(DEADLINE.close, ms / 2));
    this.#session = undefined;
    if (!isMine) return;
    shared().owners.delete(session);
    this.#side.seats.delete(session);
  }

  #has(ctx: C): boolean {
    const session = ctx.sessionManager.getSessionId();
    if (session !== this.#session || shared().owners.get(session) !== this) return false;
    this.#ctx = ctx;
    return true;
  }

  #place(ctx: C): { session: string; file: string | null; leaf: string | null } {
    const { sessionManager } = ctx;
    return { session: sessionManager.getSessionId(), file: sessionManager.getSessionFile() ?? null,
      leaf: sessionManager.getLeafId() };
  }

  #register(hello: Hello | undefined): void {
    for (const spec of hello?.tools ?? []) {
      if (this.#registered.has(spec.name)) continue;
      this.#registered.add(spec.name);
      this.#dialect.registerTool(spec, (id, args, signal, ctx) => this.#tool(spec.name, id, args, signal, ctx));
    }
    for (const spec of hello?.commands ?? []) {
      if (this.#registered.has(`/${spec.name}`)) continue;
      this.#registered.add(`/${spec.name}`);
      const complete = spec.completes ? (prefix: string) => this.#complete(spec.name, prefix) : undefined;
      this.#dialect.registerCommand(spec, complete, (args, ctx) => this.#command(spec.name, args, ctx));
    }
  }

  async #tool(name: string, callId: string, args: unknown, signal: AbortSignal | undefined, ctx: C): Promise<ToolAnswer> {
    const params = { ...this.#place(ctx), name, callId, arguments: args };
    const { result, error } = await this.#side.ask("tool/call", params, DEADLINE.tool, signal);
    if (!error) return result as ToolAnswer;
    return { text: `${error.message} Go on without ${name}.`, isError: true, details: { code: error.code } };
  }

  async #command(name: string, args: string, ctx: C): Promise<void> {
    const params = { ...this.#place(ctx), name, args, width: process.stdout.columns ?? null };
    const { result, error } = await this.#side.ask("command/run", params, DEADLINE.command);
    const { text, level } = (error ? { text: `/${name}: ${error.message}`, level: "error" } : (result ?? {})) as Fields;
    if (typeof text !== "string" || text === "") return;
    if (ctx.hasUI) ctx.ui.notify(text, level === "warning" || level === "error" ? level : "info");
    // Not by console.log: in print mode pi keeps that away from stdout.
    else if (ctx.mode === "print") writeSync(1, `${text}\n`);
  }

  async #complete(name: string, prefix: string): Promise<Completion[] | null> {
    const params = { session: this.#session ?? null, name, prefix };
    const { result } = await this.#side.ask("command/complete", params, DEADLINE.complete);
    const items = (result as { items?: Completion[] } | undefined)?.items;
    return items && items.length > 0 ? items : null;
  }
}

/** Answer one of the sidecar's own calls. A stale or missing piece of the host throws, which is an error answer. */
async function serve<C extends Context>(api: Api, ctx: C, dialect: Dialect<C>, method: string, params: Fields,
  signal: AbortSignal): Promise<unknown> {
  const text = String(params["text"] ?? "");
  const title = String(params["title"] ?? "");
  const items = (params["items"] ?? []) as string[];
  switch (method) {
    case "host/entries":
      return entriesAfter(ctx, (params["after"] ?? null) as string | null, Number(params["limitBytes"]) || CHUNK_BYTES);
    case "host/append":
      return append(api, ctx, params);
    case "host/notify":
      return ctx.hasUI ? ctx.ui.notify(text, params["level"] as "info") : undefined;
    case "host/confirm":
      return { yes: ctx.hasUI && (await ctx.ui.confirm(title, text, { signal })) };
    case "host/select":
      return { index: ctx.hasUI ? await select(ctx, title, items, signal) : null };
    case "host/view":
      return view(ctx, { title, lines: (params["lines"] ?? []) as string[], items, keys: (params["keys"] ?? {}) as Keys }, signal);
    case "host/status":
      return ctx.ui.setStatus("hindsight", params["text"] === null ? undefined : text);
    case "host/emit":
      return api.events.emit(String(params["channel"]), params["data"]);
    case "host/usage": {
      const usage = ctx.getContextUsage();
      return { tokens: usage?.tokens ?? null, window: usage?.contextWindow ?? null };
    }
    case "host/tasks":
      return { entries: taskEntries(ctx) };
    case "host/memory":
      return { backend: await dialect.memory(ctx) };
    case "host/idle":
      return { idle: ctx.isIdle() };
    case "host/compact":
      return { done: await dialect.compact(ctx, (params["instructions"] ?? undefined) as string | undefined) };
    case "host/copy":
      return { how: await copied(dialect, text) };
    case "host/model": {
      const { provider, id, contextWindow, maxTokens, reasoning } =
        dialect.model(ctx, (params["model"] ?? null) as { provider: string; id: string } | null) ?? {};
      return provider && id
        ? { provider, id, window: contextWindow ?? null, maxTokens: maxTokens ?? null, reasoning: reasoning === true } : {};
    }
    case "host/complete":
      return dialect.complete(ctx, params, signal);
    default:
      throw new RpcError(CODE.method, "The host does not know this method.");
  }
}

/** How a text came to the clipboard; null where the host's helper could not do it. */
async function copied<C extends Context>(dialect: Dialect<C>, text: string): Promise<string | null> {
  try {
    await dialect.copy(text);
    return "clipboard";
  } catch {
    return null;
  }
}

/** The branch from its leaf to its root. */
function* upwards(ctx: Context): Generator<Fields> {
  const { sessionManager } = ctx;
  for (let id = sessionManager.getLeafId(); id; ) {
    const entry = sessionManager.getEntry(id) as Fields | undefined;
    if (!entry) return;
    yield entry;
    id = (entry["parentId"] ?? null) as string | null;
  }
}

/** The entries below one of the branch, oldest first, as many as fit; -32805 where that entry is not on the branch. */
function entriesAfter(ctx: Context, after: string | null, limitBytes: number): Fields {
  const below: Fields[] = [];
  let found = after === null;
  for (const entry of upwards(ctx)) {
    if (entry["id"] === after) {
      found = true;
      break;
    }
    below.push(entry);
  }
  if (!found) throw new RpcError(CODE.moved, "That entry is not on the present branch.");
  const entries: unknown[] = [];
  let bytes = 0;
  for (const entry of below.reverse()) {
    let slim = lean(entry, Infinity);
    let size = Buffer.byteLength(JSON.stringify(slim));
    if (size > FRAME_BYTES - CHUNK_BYTES) {
      slim = { type: entry["type"], id: entry["id"], parentId: entry["parentId"], timestamp: entry["timestamp"], omitted: size };
      size = 0;
    }
    if (entries.length > 0 && bytes + size > Math.min(limitBytes, CHUNK_BYTES)) break;
    entries.push(slim);
    bytes += size;
  }
  return { entries, leaf: ctx.sessionManager.getLeafId(), more: entries.length < below.length };
}

/** Append to the branch, but only below the entry that is expected above; -32805 where the branch has moved. */
function append(api: Api, ctx: Context, params: Fields): Fields {
  const expected = params["expectAncestor"] ?? null;
  if (expected !== null) {
    let found = false;
    for (const entry of upwards(ctx)) if ((found = entry["id"] === expected)) break;
    if (!found) throw new RpcError(CODE.moved, "The branch has moved; nothing was appended.");
  }
  api.appendEntry(String(params["customType"]), params["data"]);
  return { id: ctx.sessionManager.getLeafId() };
}

const TASK_TYPES = new Set(["user_todo_edit", "rpiv-todo-state"]);

/** The latest entry of each kind that shows the state of a task list, oldest first. */
function taskEntries(ctx: Context): unknown[] {
  const latest = new Map<string, Fields>();
  for (const entry of upwards(ctx)) {
    const message = entry["message"] as Fields | undefined;
    const isList = message?.["toolName"] === "todo" && message["isError"] !== true;
    const kind = isList ? "todo" : String(entry["customType"]);
    if ((kind === "todo" || TASK_TYPES.has(kind)) && !latest.has(kind)) latest.set(kind, entry);
  }
  return [...latest.values()].reverse().map((entry) => lean(entry));
}

/** A copy without image bytes and with each text cut. Histories stay out of the pipe, and so do pictures. */
function lean(value: unknown, chars = TEXT_CHARS): unknown {
  if (typeof value === "string") return value.length > chars ? value.slice(0, chars) : value;
  if (Array.isArray(value)) return value.map((item) => lean(item, chars));
  if (typeof value !== "object" || value === null) return value;
  const { type, data, mimeType } = value as Fields;
  if (type === "image" && typeof data === "string") {
    const bytes = Buffer.from(data, "base64");
    return { type, mimeType, size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, lean(item, chars)]));
}

async function select(ctx: Context, title: string, items: string[], signal: AbortSignal): Promise<number | null> {
  const shown = new Set(items).size === items.length ? items : items.map((item, at) => `${at + 1}. ${item}`);
  const chosen = await ctx.ui.select(title, shown, { signal });
  const index = chosen === undefined ? -1 : shown.indexOf(chosen);
  return index < 0 ? null : index;
}

type Keys = Record<string, string>;
interface Choice { key: string | null; index: number | null }
interface Page { title: string; lines: string[]; items: string[]; keys: Keys }
/** The part of both hosts' screens that a view uses. */
export interface Screen { requestRender(): void }
/** A component of either host: both take any object of this shape. */
export interface View { render(width: number): string[]; handleInput(data: string): void; invalidate(): void }

/** A list with keys in the terminal; where there is none, nobody can press a key. */
async function view(ctx: Context, page: Page, signal: AbortSignal): Promise<Choice> {
  const nothing = { key: null, index: null };
  if (ctx.mode !== "tui" || !ctx.hasUI) return nothing;
  const chosen = await ctx.ui.custom<Choice>((screen, _theme, _keys, done) => listView(page, screen, done, signal));
  return chosen ?? nothing;
}

/** How many lines, and how many items, are shown at once; the rest is reached by moving. */
const LINES = 18;
const ITEMS = 10;
const ARROWS: Record<string, string> = { A: "up", B: "down", H: "home", F: "end" };
const CODES: Record<string, string> = { 13: "enter", 27: "escape" };

/** The name of a pressed key ("up", "enter", "f"), in the old and the newer way terminals spell it; "" for others. */
function keyOf(data: string): string {
  if (data === "\r" || data === "\n") return "enter";
  if (data === "\x1b" || data === "\x03") return "escape";
  const arrow = /^\x1b(?:\[|O)(?:1;1(?::\d)?)?([ABHF])$/.exec(data);
  if (arrow) return ARROWS[arrow[1] ?? ""] ?? "";
  const coded = /^\x1b\[(\d+)(?:;1(?::[12])?)?u$/.exec(data);
  if (coded) return CODES[coded[1] ?? ""] ?? String.fromCodePoint(Math.min(Number(coded[1]), 0x10ffff));
  return [...data].length === 1 && data >= " " ? data : "";
}

/** A text without what would move the cursor or change a colour: a space in its place. */
function plain(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, "").replace(/[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069]/g, " ");
}

/** A line that takes at most `width` cells. Where a cell count is in doubt it is taken as two: hosts refuse long lines. */
export function fit(text: string, width: number): string {
  let cells = 0;
  let kept = "";
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(plain(text))) {
    const code = segment.codePointAt(0) ?? 0;
    const size = segment.length === 1 && code < 0x300 ? 1 : 2;
    if (cells + size > width) return kept;
    kept += segment;
    cells += size;
  }
  return kept;
}

/** The lines a text takes at this width, cut between words where there are any. What follows stands below its own start. */
export function wrap(text: string, width: number): string[] {
  const label = /^ *\S+ {2,}/.exec(text)?.[0].length ?? 0;
  const inset = label <= width / 3 ? label : 0;
  const lines: string[] = [];
  for (let rest = plain(text).trimEnd(); ; ) {
    const indent = lines.length === 0 ? 0 : inset;
    const head = fit(rest, width - indent);
    const isAll = head.length === rest.length || head === "";
    const space = rest[head.length] === " " ? head.length : head.lastIndexOf(" ");
    const cut = isAll || space < (lines.length === 0 ? inset : 0) + 1 ? head.length : space;
    lines.push(" ".repeat(indent) + head.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
    if (isAll || rest === "") return lines;
  }
}

/** A title, some lines, items to choose from, and the keys that do something: Enter and each of `keys` end the view. */
export function listView(page: Page, screen: Screen, done: (choice: Choice) => void, signal?: AbortSignal): View {
  const { items, keys } = page;
  let at = 0;
  let top = 0;
  let height = 0;
  const index = (): number | null => (items.length > 0 ? at : null);
  const move = (by: number): void => {
    if (items.length > 0) at = Math.max(0, Math.min(items.length - 1, at + by));
    else top = Math.max(0, Math.min(height - LINES, top + by));
    screen.requestRender();
  };
  signal?.addEventListener("abort", () => done({ key: null, index: null }), { once: true });
  return {
    render(width) {
      const lines = page.lines.flatMap((line) => wrap(line, width));
      height = lines.length;
      top = Math.max(0, Math.min(height - LINES, top));
      const first = Math.max(0, Math.min(at - Math.floor(ITEMS / 2), items.length - ITEMS));
      const shown = items.slice(first, first + ITEMS).map((item, row) => `${first + row === at ? ">" : " "} ${item}`);
      const count = items.length > ITEMS ? [`  ${at + 1} of ${items.length}`] : [];
      const more = height > LINES ? [`  lines ${top + 1} to ${Math.min(height, top + LINES)} of ${height}; up and down show the others`] : [];
      const help = [...Object.entries(keys).map(([key, word]) => `${key} ${word}`),
        ...(items.length > 0 ? ["enter open"] : []), "esc close"].join("   ");
      const rule = "\u2500".repeat(Math.max(0, width));
      const drawn = [page.title, "", ...lines.slice(top, top + LINES), ...more,
        ...(items.length > 0 ? ["", ...shown, ...count] : []), "", ...wrap(help, width)];
      return [rule, ...drawn.map((line) => fit(line, width)), rule];
    },
    handleInput(data) {
      const key = keyOf(data);
      if (key === "escape") done({ key: null, index: null });
      else if (Object.hasOwn(keys, key)) done({ key, index: index() });
      else if (key === "enter" && items.length > 0) done({ key, index: at });
      else if (key === "up" || key === "k") move(-1);
      else if (key === "down" || key === "j") move(1);
      else if (key === "home") move(-Infinity);
      else if (key === "end") move(Infinity);
    },
    invalidate() { /* nothing is cached */ },
  };
}
