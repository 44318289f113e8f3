import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreSealed

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Share the history with your other machines, sealed.",
        discussion: """
            Off until you turn it on, on each machine. Items are sealed on the machine with the content key \
            of your account, which no server has (kvs seal); a server sees how many there are, their sizes in \
            classes, and when they change.
            """,
        subcommands: [On.self, Off.self, Now.self], defaultSubcommand: Now.self)

    struct On: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "on", abstract: "Share it from now on.")

        @Flag(help: "Do not ask.")
        var yes = false

        func run() async throws {
            let opened = try OpenedHistory()
            defer { opened.close() }
            let shared = try SharedHistory(opened.store.files.environment, isLive: false)
            let directory = shared.accountDirectory
            let hasKey = try await shared.receiveContentKey()
            shared.close()
            guard hasKey else {
                throw CommandFailure(
                    .configuration,
                    "this machine has no content key; run kvs seal create on the first machine, kvs "
                        + "seal join on the others")
            }
            let count = opened.list.keys.count
            Console.report(
                "\(count.items) of this machine, and every later copy that is not skipped, will be sealed and "
                    + "sent to the daemon, and open on every machine that has the content key")
            guard try yes || Console.confirm(verb: "share it") else { return }
            try opened.store.exclusively { entries, state in
                guard state.sharedWith != directory else { return }
                state.sharedWith = directory
                entries = entries.unshared
            }
            // The collector looks at the state when it starts, and after every change.
            if let failure = try await opened.exchange.exchange(within: .seconds(10)) {
                Console.report("shared as soon as the daemon can be reached: \(failure.reason)")
            }
        }
    }

    struct Off: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "off", abstract: "Keep it to this machine from now on.",
            discussion: "What has been shared stays on this machine and on the others.")

        func run() throws {
            let store = try HistoryStore()
            defer { store.close() }
            try store.exclusively { entries, state in
                state.sharedWith = nil
                entries = entries.unshared
            }
        }
    }

    struct Now: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "now", abstract: "Send and receive items now.")

        func run() async throws {
            let opened = try OpenedHistory()
            defer { opened.close() }
            guard opened.store.state.sharedWith != nil else {
                throw CommandFailure(.configuration, "the history is not shared; run \(ProgramName.text) sync on")
            }
            if let failure = try await opened.exchange.exchange(within: .seconds(10)) { throw failure }
        }
    }
}
