import Essentials
import LocalFiles

/// What the other programs say of this machine.
struct MachineState: Equatable {
    /// Nil if none runs.
    var daemon: DaemonReport?
    var daemonService: ServiceReport?
    var account: AccountReport?
    var pusher: ServiceReport?
    var sources: SourcesReport?
    var capture: CaptureReport?
    /// The options with which the daemon was served last, by its service or in the background.
    var daemonOptions: [String] = []
    /// The machine on which the daemon runs, if another one shares this home directory.
    var sharingHost: String?
    /// Programs that were started without a service manager, and run.
    var inBackground: Set<Sibling> = []

    /// Asks each program, one after the other.
    static func current() throws -> MachineState {
        var state = MachineState()
        state.daemon = try Sibling.daemon.report(DaemonReport.self, ["status", "--json"])
        state.daemonService = try Sibling.daemon.report(ServiceReport.self, ["service", "status", "--json"])?.ofUser
        state.account = try Sibling.kvs.report(AccountReport.self, ["status", "--json"])
        state.pusher = try Sibling.push.report(ServiceReport.self, ["service", "status", "--json"])?.ofUser
        state.sources = try Sibling.push.report(SourcesReport.self, ["sources", "--json"])
        state.capture = try Sibling.push.report(CaptureReport.self, ["setup", "--json"])
        state.inBackground = Set([.daemon, .push].filter { BackgroundProgram($0).isRunning })
        state.sharingHost = BackgroundProgram(.daemon).otherHost
        state.daemonOptions = state.daemonService.map(options) ?? []
        if state.daemonOptions.isEmpty { state.daemonOptions = Array(BackgroundProgram(.daemon).arguments.dropFirst()) }
        return state
    }

    /// Those of the unit's line 'ExecStart=… serve …'; empty if a word of it is quoted, which no option of 'ubq up' is.
    private static func options(of service: ServiceReport) -> [String] {
        // Without a unit, or one that can be read, there are none.
        guard service.isInstalled, let content = try? LocalFile(service.unitFile).read(byteLimit: 65_536) else {
            return []
        }
        let start = String(decoding: content.data, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("ExecStart=") && !$0.contains { "\"'\\%$".contains($0) } }
        return start.flatMap { $0.split(separator: " ").map(String.init).split(separator: "serve").dropFirst().last }
            .map(Array.init) ?? []
    }

    /// The tools whose files were found, by name.
    var tools: [String] { sources?.toolNames ?? [] }
    /// Whether something can start services of this user.
    var hasServiceManager: Bool { daemonService?.isManaged ?? false }
    /// What starts the pusher again.
    var pusherStart: String { hasServiceManager ? "usage-push service install" : "ubq doctor --fix" }
    /// What starts the daemon again, with the program that is installed now.
    var daemonRestart: String {
        daemonService?.isActive == true ? "systemctl --user restart kvsd" : "ubq down && ubq up"
    }
    /// Whether a daemon should run here: it was a service, or is that of this machine's account.
    var isHome: Bool { daemonService?.isInstalled == true || account?.isOwn == true }
    var isDaemonKept: Bool { daemonService?.isActive == true || inBackground.contains(.daemon) }
    var isPusherKept: Bool { pusher?.isActive == true || inBackground.contains(.push) }
}

// The parts of the programs' JSON that are needed here.

struct ServiceReport: Decodable, Equatable {
    var unitFile: String
    var isInstalled: Bool
    var isPackaged: Bool?
    var isEnabled: Bool?
    var isActive: Bool
    var isManaged: Bool?
    var endsWithLogin: Bool?
    var state: String
    var messages: [String]
    /// The pusher has it alone.
    var lastPush: Date?
}

struct DaemonReport: Decodable, Equatable {
    struct Incident: Decodable, Equatable {
        var text: String
        var recovered: Int64?
    }

    var version: String
    var url: String
    var processID: Int32
    var data: String
    var incident: Incident?

    var acceptsWrites: Bool { incident == nil || incident?.recovered != nil }
    var port: Int? { url.split(separator: ":").last.flatMap { Int($0) } }
    /// Whether other machines cannot reach it.
    var isLocal: Bool { ["//127.", "//localhost", "//[::1]"].contains { url.contains($0) } }
}

struct AccountReport: Decodable, Equatable {
    var joined: Bool
    var daemon: String?
    var account: String?
    var device: String?
    var deviceID: String?
    /// "reachable", or why the daemon was not reached, with the code of the error.
    var connection: String
    var problem: String?
    var damagedFiles: [String]
    /// Why the daemon does not accept some keys, if it does not.
    var refusal: String?

    /// What the daemon says if it answers, and does not do what it is asked for.
    var objection: String? {
        guard let problem else { return refusal }
        return problem == "refused" || connection.hasPrefix("the daemon is busy") ? connection : nil
    }

    /// Whether the daemon is the user's own on this machine.
    var isOwn: Bool { daemon?.hasPrefix("unix:") == true }

    /// What to do where no account is joined.
    static let joining = "ubq up makes this machine the home, ubq join LINE joins another's"
}

/// A device as `kvs device list --json` lists it.
struct DeviceReport: Decodable, Equatable {
    var device: String
    var deviceID: String
    var thisDevice: Bool?
    var page: Bool?
    var connected: Bool?
    var presence: String?
    var lastSeen: Date?
    var lastPush: Date?
    /// When the daemon listed it; nil if it was now.
    var asOf: Date?
    /// Seconds by which this machine's clock is ahead of the daemon's; of this device alone.
    var clockLead: Double?
}

/// `usage-view --json`: what this machine has of the others.
struct ViewReport: Decodable, Equatable {
    struct Device: Decodable, Equatable {
        var name: String
        var appVersion: String?
    }

    struct Provider: Decodable, Equatable {
        var name: String
        var devices: [String]
    }

    var devices: [Device]
    var providers: [Provider]
}

struct AlertsReport: Decodable, Equatable {
    struct Target: Decodable, Equatable {
        var name: String
    }

    struct Event: Decodable, Equatable {
        struct Outcome: Decodable, Equatable {
            var target: String
            var failure: String?
        }

        var at: Date
        var outcomes: [Outcome]
    }

    var targets: [Target]
    /// Newest first.
    var events: [Event]
}

/// `usage-view gate status --json`.
struct GateReport: Decodable, Equatable {
    struct Hooks: Decodable, Equatable {
        var tool: String
        var areInstalled: Bool
        /// The file that keeps the tool from calling any hooks.
        var turnedOffIn: String?
    }

    struct Rule: Decodable, Equatable {
        var number: Int
        var text: String
        /// Why it is about no limit that is known; nil if it is about one.
        var absence: String?
    }

    var hooks: [Hooks]
    var issue: String?
    /// The file of rules, if one of them cannot be used.
    var brokenFile: String?
    var rules: [Rule]

    /// The tools that ask it.
    var tools: [String] { Set(hooks.filter { $0.areInstalled && $0.turnedOffIn == nil }.map(\.tool)).sorted() }
}

struct CertificateReport: Decodable, Equatable {
    var source: String
    var expires: Date?
}

struct SourcesReport: Decodable, Equatable {
    struct Source: Decodable, Equatable {
        struct Finding: Decodable, Equatable {
            var title: String
            var isError: Bool?
            var path: String
            var detail: String
        }

        var providerID: String
        var providerName: String
        var isInstalled: Bool
        /// Whether a push has anything of it.
        var isPushed: Bool
        var findings: [Finding]
    }

    var sources: [Source]

    var toolNames: [String] { sources.filter(\.isInstalled).map(\.providerName) }
}

struct CaptureReport: Decodable, Equatable {
    struct Change: Decodable, Equatable {
        var path: String
    }

    struct Override: Decodable, Equatable {
        var path: String
    }

    var isComplete: Bool
    var changes: [Change]
    var statuslineOverride: Override?
}

extension ServiceReport {
    /// As this user has it: a package's unit is there for everybody, and a service of those who enable or start it.
    var ofUser: ServiceReport {
        var report = self
        report.isInstalled = isInstalled && (isPackaged != true || isEnabled == true || isActive)
        return report
    }
}
