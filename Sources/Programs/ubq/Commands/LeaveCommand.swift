import ArgumentParser
import Commands
import Essentials
import LocalFiles
import TerminalText

struct LeaveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "Undo 'ubq join': stop pushing, restore files of other programs, and leave the account.",
        discussion: """
            The account's values stay on this machine, and are back when you join again. What was changed in files \
            of other programs is restored byte for byte: the status line, and the hooks of the gate.
            """)

    @OptionGroup var options: ConfirmationOptions

    func run() throws { try undo(endsDaemon: false, options, verb: "leave") }
}

struct DownCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "down",
        abstract: "Undo 'ubq up': stop the daemon too; the data stays.",
        discussion: """
            Other machines keep their numbers, and sync again after the next 'ubq up'.
            """)

    @OptionGroup var options: ConfirmationOptions

    func run() throws { try undo(endsDaemon: true, options, verb: "take this machine down") }
}

private func undo(endsDaemon: Bool, _ options: ConfirmationOptions, verb: String) throws {
    let lock = try options.lockMachine()
    defer { lock?.unlock() }
    let state = try MachineState.current()
    let undone = try Sibling.push.report(CaptureReport.self, ["setup", "--undo", "--json"])
    let hooks = try Sibling.view.report(CaptureReport.self, ["gate", "install", "--undo", "--json"])
    let plan = DownPlan(state, undone: undone, hooks: hooks, endsDaemon: endsDaemon)
    guard !plan.steps.isEmpty else { return try Console.print("there is nothing to undo") }
    let isDone = try StepRunner(options: options, repetition: { _, _ in endsDaemon ? "ubq down" : "ubq leave" })
        .run(plan.steps, facts: [], verb: verb)
    guard isDone else { return }
    // Unless settings are there, which stay.
    try? LocalDirectory(UserDirectories().config).remove()
    for line in plan.remains { try Console.print(VisibleText.escape(line)) }
}
