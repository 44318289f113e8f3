import Commands
import Essentials
import KVStoreWire

/// One thing that a command does: another program of this package with its arguments.
struct Step: Equatable {
    enum Way: Equatable {
        /// To its end; its output is shown only if it fails.
        case toItsEnd
        /// As a program that stays, where nothing manages services.
        case inBackground
        /// Ends what runs that way.
        case endsBackground
    }

    /// What happens, as an imperative sentence without a full stop.
    var text: String
    var program: Sibling
    var arguments: [String]
    var way = Way.toItsEnd
    /// The exit statuses with which it is done.
    var accepted: Set<Int32> = [0]
    /// For its standard input, never shown.
    var input: String?
    /// Asked for by itself, as it changes a file of another program.
    var question: String?
    /// What must hold before the next step begins.
    var waitsForDaemon = false

    /// As a person would type it; nil if there is nothing to type.
    var command: String? {
        switch way {
        case .toItsEnd: typed
        case .inBackground: typed + " &"
        case .endsBackground: nil
        }
    }
}

extension Step {
    private var typed: String { ([program.rawValue] + arguments).map(ShellWord.quoted).joined(separator: " ") }

    static func startDaemon(_ state: MachineState, port: Int?) -> Step {
        let former = state.daemonOptions.isEmpty ? ["--listen", "0.0.0.0"] : state.daemonOptions
        let options = port.map { ["--listen", "0.0.0.0:\($0)"] } ?? former
        let reach = "reachable by your other machines over TLS"
        return state.hasServiceManager
            ? Step(
                text: "Start kvsd as a service of your user, \(reach)", program: .daemon,
                arguments: ["service", "install", "--"] + options, waitsForDaemon: true)
            : Step(
                text: "Start kvsd in the background, \(reach); nothing here manages services", program: .daemon,
                arguments: ["serve"] + options, way: .inBackground, waitsForDaemon: true)
    }

    static func startPusher(_ state: MachineState) -> Step {
        let tools = state.tools.isEmpty ? "AI coding tools" : state.tools.listed
        return state.hasServiceManager
            ? Step(
                text: "Push the limits of \(tools) as a service of your user", program: .push,
                arguments: ["service", "install"])
            : Step(
                text: "Push the limits of \(tools) in the background; nothing here manages services",
                program: .push, arguments: ["--watch", "--quiet"], way: .inBackground)
    }

    static let stopPusher = Step(
        text: "Stop the usage-push that pushes nothing", program: .push, arguments: [], way: .endsBackground)

    /// The exit statuses of a push after which the screen says what is missing: nothing, some files, or a tool without
    /// numbers.
    static let pushed = Set([ExitStatus.success, .failure, .noInput].map(\.rawValue))

    /// Before it is left to a program that nobody looks at: what keeps it from pushing is said here.
    static func pushOnce(_ state: MachineState) -> Step {
        Step(
            text: "Push the limits of \(state.tools.listed) once", program: .push, arguments: ["--quiet"],
            accepted: pushed)
    }

    static func capture(_ report: CaptureReport) -> Step {
        let files = report.changes.map(\.path).listed
        return Step(
            text: "Capture the limits that Claude Code passes to its status line", program: .push,
            arguments: ["setup", "--yes"],
            question: "Capture Claude Code's exact limits? It changes the status line in \(files), which goes on as "
                + "before, and 'ubq leave' restores every byte.")
    }
}

/// What `ubq up` does on a machine in this state. Pure.
struct UpPlan {
    var steps: [Step] = []
    /// What is done already.
    var facts: [String] = []
    /// What prevents all of it, with the next step.
    var obstacle: String?

    init(_ state: MachineState, port: Int?, capturesStatusLine: Bool) {
        if let host = state.sharingHost {
            obstacle = "kvsd runs on \(host), which shares this home directory and its numbers; ubq view shows them"
            return
        }
        if let account = state.account, account.joined, !account.isOwn {
            obstacle =
                "this machine has joined \(account.daemon ?? "another daemon"), which is the home of its data; "
                + "to make this machine the home, run ubq leave first"
            return
        }
        if let daemon = state.daemon {
            if daemon.isLocal {
                obstacle =
                    "kvsd runs and listens on \(daemon.url) alone, which other machines cannot reach; stop it "
                    + (state.daemonService?.isInstalled == true ? "with kvsd service remove " : "")
                    + "and run ubq up again"
                return
            }
            if let port, daemon.port != port {
                obstacle =
                    "kvsd runs at \(daemon.url), where its devices look for it; for another port, run ubq down first"
                return
            }
            facts.append("kvsd runs at \(daemon.url)" + (state.isDaemonKept ? "" : ", but not as a service"))
        } else {
            steps.append(.startDaemon(state, port: port))
        }
        if state.account?.joined == true {
            facts.append("this machine has joined it as \(state.account?.device ?? "a device")")
        } else {
            steps.append(Step(text: "Join this machine to it", program: .kvs, arguments: ["join"]))
        }
        appendPusher(state, capturesStatusLine: capturesStatusLine)
    }

    /// What `ubq join` does with a line.
    static func join(
        _ state: MachineState, line: PairingLine, name: String?, isViewer: Bool, capturesStatusLine: Bool
    ) -> UpPlan {
        var plan = UpPlan()
        var join = Step(
            text: "Join this machine to the daemon at \(line.url)", program: .kvs,
            arguments: ["join", "-"] + (name.map { ["--name", $0] } ?? []), input: line.text + "\n")
        // Where an interrupted 'ubq join' has used the code, the rest is left to do.
        if let account = state.account, account.joined, account.daemon == line.url, account.problem == nil {
            join.accepted.insert(ExitStatus.noPermission.rawValue)
        }
        plan.steps.append(join)
        guard !isViewer else { return plan }
        plan.appendPusher(state, capturesStatusLine: capturesStatusLine)
        return plan
    }

    private init() {}

    private mutating func appendPusher(_ state: MachineState, capturesStatusLine: Bool) {
        if state.isPusherKept {
            facts.append("the limits of \(state.tools.isEmpty ? "its tools" : state.tools.listed) are pushed")
        } else if !state.tools.isEmpty {
            steps += [.pushOnce(state), .startPusher(state)]
        } else {
            facts.append("no AI coding tool is here yet: it views, and ubq up pushes once there is one")
        }
        if capturesStatusLine, let capture = state.capture, !capture.isComplete, !capture.changes.isEmpty {
            steps.append(.capture(capture))
        }
    }
}

/// What undoes `up` and `join`. Pure.
struct DownPlan {
    var steps: [Step] = []
    /// What stays.
    var remains: [String] = []

    /// - Parameters:
    ///   - undone: what `usage-push setup --undo` would change.
    ///   - hooks: what `usage-view gate install --undo` would change.
    ///   - endsDaemon: whether this machine ceases to be the home of the data.
    init(_ state: MachineState, undone: CaptureReport?, hooks: CaptureReport?, endsDaemon: Bool) {
        if let hooks, !hooks.changes.isEmpty {
            steps.append(
                Step(
                    text: "Remove the hooks of the gate from \(hooks.changes.map(\.path).listed)", program: .view,
                    arguments: ["gate", "install", "--undo", "--yes"]))
        }
        if let undone, !undone.isComplete, !undone.changes.isEmpty {
            steps.append(
                Step(
                    text: "Restore your own status line in \(undone.changes.map(\.path).listed)", program: .push,
                    arguments: ["setup", "--undo", "--yes"]))
        }
        appendEnd(of: .push, state.pusher, state, "Stop pushing this machine's limits")
        if state.account?.joined == true {
            steps.append(
                Step(
                    text: "Leave the account, and remove this machine's device", program: .kvs,
                    arguments: ["leave", "--revoke"]))
        }
        if let hooks, !hooks.changes.isEmpty, state.account?.joined == true {
            steps.append(
                Step(
                    text: "Let agents go on that rules of the account have paused", program: .view,
                    arguments: ["gate", "status"]))
        }
        if endsDaemon {
            appendEnd(of: .daemon, state.daemonService, state, "Stop kvsd")
            if let daemon = state.daemon, !state.isDaemonKept {
                remains.append("kvsd was started by hand, as process \(daemon.processID), and goes on")
            } else if let data = state.daemon?.data {
                remains.append("the data of all machines stays in \(data); ubq up serves it again")
            }
        }
    }

    private mutating func appendEnd(
        of program: Sibling, _ service: ServiceReport?, _ state: MachineState, _ text: String
    ) {
        if let service, service.isInstalled {
            let end = service.isPackaged == true ? "disable the package's service" : "remove the service"
            steps.append(Step(text: "\(text): \(end)", program: program, arguments: ["service", "remove"]))
        }
        if state.inBackground.contains(program) {
            steps.append(Step(text: text, program: program, arguments: [], way: .endsBackground))
        }
    }
}

extension [String] {
    /// "A", "A and B", "A, B and C".
    var listed: String {
        guard count > 1, let last else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}
