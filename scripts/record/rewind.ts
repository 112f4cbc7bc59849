// The hosts' RPC modes cannot move within a session's tree, but their extensions can. One command does it for both:
// /rewind ENTRY_ID makes that entry the leaf, so that the next prompt begins a second branch below it.
interface CommandContext {
  navigateTree(id: string, options: { summarize: boolean }): Promise<{ cancelled: boolean }>;
  ui: { notify(message: string, level: "info" | "error"): void };
}

interface Host {
  registerCommand(
    name: string,
    command: { description: string; handler(args: string, ctx: CommandContext): Promise<void> },
  ): void;
}

export default function (host: Host): void {
  host.registerCommand("rewind", {
    description: "Make an entry the leaf of the tree",
    async handler(args, ctx) {
      try {
        const { cancelled } = await ctx.navigateTree(args.trim(), { summarize: false });
        ctx.ui.notify(cancelled ? "rewind: cancelled" : "rewind: done", cancelled ? "error" : "info");
      } catch (error) {
        ctx.ui.notify(`rewind: ${String(error)}`, "error");
      }
    },
  });
}
