import ArgumentParser
import Commands
import Essentials
import LocalFiles

struct CollectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Keep what is copied in the history, until it is stopped.",
        discussion: """
            With 'sync on' it also shares what changes, as it changes. Wayland desktops with the data-control protocol (sway, Hyprland, KDE Plasma) and X11 \
            are collected from; in any other session only what '\(ProgramName.text) add' is given is kept. \
            What a password manager marks is not read at all.

            EXAMPLES
              \(ProgramName.text) collect              run in this terminal
              \(ProgramName.text) collect --install    run as a service of your user, also after the next login
              \(ProgramName.text) collect --uninstall  stop the service and remove its unit

            EXIT STATUS
              0 it was stopped · 75 another collector of this user is running
              69, 73, 74 the service cannot be installed
            """)

    @Option(help: "What to collect from: auto, wayland, x11 or none.")
    var backend: Backend?

    @Flag(help: "Install and start it as a service of your user.")
    var install = false

    @Flag(help: "Stop the service and remove it.")
    var uninstall = false

    enum Backend: String, ExpressibleByArgument, CaseIterable {
        case auto, wayland, x11, none

        var requested: CollectorBackend? {
            switch self {
            case .auto: nil
            case .wayland: .wayland
            case .x11: .x11
            case .none: CollectorBackend.none(.chosen)
            }
        }
    }

    func validate() throws {
        if install, uninstall { throw ValidationError("--install and --uninstall exclude each other") }
    }

    func run() async throws {
        if install { return try installService() }
        if uninstall { return try Collector.service.remove() }
        let files = ClipFiles()
        let device = try DeviceSettings.read(files)
        guard let lock = try await Collector.lock(files, tries: 3) else {
            throw CommandFailure(.temporaryFailure, "another collector of this user is running already")
        }
        defer { lock.unlock() }
        let store = try HistoryStore(files, isWatched: true)
        defer { store.close() }
        let chosen = backend ?? device.backend.flatMap(Backend.init) ?? .auto
        let collector = Collector(
            store: store, requested: chosen.requested, environment: ProcessInfo.processInfo.environment)
        let signals = EndSignals()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await collector.run() }
            group.addTask { await SharingLoop(store).run() }
            group.addTask { await ExpiryLoop(store: store).run() }
            await signals.wait()
            group.cancelAll()
        }
    }

    private func installService() throws {
        let chosen = backend.map { ["--backend", $0.rawValue] } ?? []
        try Collector.service.install(
            ServiceUnit(
                program: ProgramName.installed, description: "Ubiquity clipboard history",
                executable: ProgramLocation.current(name: ProgramName.text).path, arguments: ["collect"] + chosen,
                variables: ProcessInfo.processInfo.environment, directives: ["Nice=5"]),
            otherwise:
                "Run '\(ProgramName.text) collect' from what starts programs in your session.")
    }
}

extension Collector {
    static let service = BackgroundService(
        program: ProgramName.installed, installCommand: "\(ProgramName.text) collect --install",
        statusCommand: "\(ProgramName.text) status")
}

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "pause", abstract: "Keep no copies until 'resume'.")

    func run() throws { try HistoryState.change { $0.pause.pause() } }
}

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Keep copies again.")

    func run() throws { try HistoryState.change { $0.pause.resume() } }
}

struct IgnoreNextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "ignore-next", abstract: "Do not keep the next copy.")

    func run() throws { try HistoryState.change { $0.pause.pause(onlyNext: true) } }
}

extension HistoryState {
    fileprivate static func change(_ change: (inout HistoryState) -> Void) throws {
        let store = try HistoryStore()
        defer { store.close() }
        try store.exclusively { _, state in change(&state) }
    }
}
