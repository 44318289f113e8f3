import Essentials
import ArgumentParser
import Commands
import KVStoreEssentials
import KVStoreHTTP

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Choose what links are opened as.",
        discussion: """
            Without --device the choice holds for all machines of your account, from the next link on; \
            a machine that is offline gets it later. 'custom' means the command of each machine, which \
            is never synced.
            """)

    @Argument(help: "hook, message, mid or custom.")
    var form: LinkForm

    @Flag(help: "Choose for this machine alone.")
    var device = false

    func run() async throws { try await Self.choose(form, isForDevice: device) }

    /// Sets the form, or removes it with nil, and reports what is left to do.
    static func choose(_ form: LinkForm?, isForDevice: Bool) async throws {
        if isForDevice {
            try DeviceSettings.update { $0.form = form }
        } else {
            let outcome = try await SyncedPreferences().set(form?.rawValue, forKey: LinkForm.key)
            if case .pending(let reason) = outcome {
                Console.report("stored on this machine, not yet synced: \(reason)")
            }
        }
        let settings = try DeviceSettings.read()
        if !isForDevice, let own = settings.form, own != form {
            Console.report(
                "this machine opens links as \(own.rawValue), its own choice; to follow the others: "
                    + "\(ProgramName.text) unset --device")
        }
        if form == .custom, settings.command == nil {
            Console.report("no command is set on this machine: \(ProgramName.text) command -- PROGRAM {id}")
        }
    }
}

struct UnsetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset", abstract: "Remove the choice, so that links are opened as hook: links.")

    @Flag(help: "Remove that of this machine, which then follows the others.")
    var device = false

    func run() async throws { try await SetCommand.choose(nil, isForDevice: device) }
}

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Send and receive the choice now.",
        discussion: "Each opened link does this in the background, for the next one.")

    func run() async throws {
        let preferences = SyncedPreferences()
        guard preferences.environment.isJoined else {
            throw CommandFailure(.configuration, "no account has been joined; run " + StoreError.rejoining)
        }
        try await preferences.synchronize()
    }
}
