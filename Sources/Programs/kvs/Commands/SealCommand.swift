import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreSealed
import TerminalText

struct SealCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal", abstract: "Manage the content key of sealed values.",
        discussion: """
            Sealed values are encrypted on the device: the daemon, its backups and its operator see only \
            their sizes and times. The first device creates the account's content key. Every other one \
            gets it by twelve words, which the first shows and the user enters; from then on the devices \
            give each other new keys. Whoever loses all devices and the words loses the sealed values.

              kvs seal create                     on the first device
              kvs seal show                       there, for each further device
              kvs seal join                       on the further device
              kvs set --sealed note "buy milk"

            docs/security.md says against whom sealing protects, and what the daemon still sees.
            """,
        subcommands: [Create.self, Show.self, Join.self, Rotate.self, Status.self, Accept.self])
}

/// What the commands about keys need of `StoreOptions`.
struct SealOptions: ParsableArguments {
    @Flag(name: .customLong("no-sync"), help: "Do not contact the daemon.")
    var isLocalOnly = false

    @OptionGroup var timeout: TimeoutOption

    var store: StoreOptions {
        var options = StoreOptions()
        options.storeName = SealedAccount.storeName
        options.isLocalOnly = isLocalOnly
        options.timeout = timeout
        return options
    }
}

extension SealCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create the account's content key, on its first device.")

        @Option(help: "Name of this device for the others; by default the host's.")
        var name: String?

        @Flag(
            name: .customLong("another"),
            help: "Create one although another device has: its values stay unreadable here.")
        var isAnother = false

        @OptionGroup var options: SealOptions

        func run() async throws {
            let session = try await SealedSession(options.store, for: .changingKeys)
            defer { session.close() }
            try session.account.createKey(deviceNamed: name ?? DeviceName.ofHost, isAnother: isAnother)
            try await session.finishWrite()
            try Console.print(SealText.current(session.account.status()))
            Console.note(
                "On every other device, run kvs seal join and enter the words of kvs seal show.\n"
                    + "Print kvs seal show --sheet and keep it: without a device or the words, "
                    + "nobody can read what is sealed.")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the words of the content key. Whoever has them can read everything.")

        @Flag(help: "Also show them as a QR code.") var qr = false
        @Flag(help: "Print a recovery sheet for a safe place.") var sheet = false
        @OptionGroup var options: SealOptions

        func run() async throws {
            let session = try await SealedSession(options.store, for: .reading(isFresh: false))
            defer { session.close() }
            let words = try session.account.recoveryWords()
            let status = try session.account.status()
            let lines =
                sheet
                ? SealText.sheet(words, status)
                : SealText.words(words, isForReading: Console.isOutputTerminal)
            for line in lines { try Console.print(line) }
            if qr, let code = QRCode(words.joined(separator: " ")) { try Console.printQRCode(code) }
            if !sheet, let code = status.current?.comparisonCode {
                Console.note("\nThe other device shows the code \(code) when it has the same key.")
            }
        }
    }

    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "join",
            abstract: "Get the content key on this device, by the words that another one shows.",
            discussion: """
                The words are prompted for, or read from standard input if that is not a terminal; case, \
                numbers and line breaks do not matter, and four letters of each word are enough.
                """)

        @Option(help: "Name of this device for the others; by default the host's.")
        var name: String?

        @Flag(help: "The words are of a recovery sheet, and the daemon has lost the account's keys.")
        var restore = false

        @OptionGroup var options: SealOptions

        func run() async throws {
            let session = try await SealedSession(options.store, for: .changingKeys)
            defer { session.close() }
            try session.account.join(words: words(), deviceNamed: name ?? DeviceName.ofHost, isRestored: restore)
            try await session.finishWrite()
            try Console.print(SealText.current(session.account.status()))
            Console.note("Compare the code with the one that the other device shows.")
        }

        private func words() throws(CommandFailure) -> String {
            guard Console.isInputTerminal else {
                return String(decoding: try InputOutput.readInput(byteCount: 4_096), as: UTF8.self)
            }
            return InputOutput.readSecret(prompt: "Words of the content key: ") ?? ""
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Replace the content key, and seal everything again with the new one.",
            discussion: """
                The other devices get the new key when they next synchronize, except those that are left \
                out. These keep what they have read; remove them from the account too, with kvs device \
                remove.
                """)

        @Option(
            name: .customLong("without"), parsing: .singleValue,
            help: "Name or id of a device that is not to get the new key; repeatable.")
        var removed: [String] = []

        @OptionGroup var options: SealOptions

        func run() async throws {
            let session = try await SealedSession(options.store, for: .changingKeys)
            defer { session.close() }
            let devices = try session.account.status().devices
            let ids = try removed.map { text in
                let found = devices.filter { $0.name == text || $0.id.description == text }
                guard let device = found.first, found.count == 1 else {
                    throw CommandFailure(
                        .failure,
                        found.isEmpty
                            ? "no device \(text) has the content key; see kvs seal status"
                            : "several devices are named \(text): give the id, see kvs seal status")
                }
                guard !device.isThis else {
                    throw CommandFailure(.usage, "\(text) is this device: rotate the key on one that stays")
                }
                return device.id
            }
            try session.account.rotateKey(without: Set(ids))
            try await session.finishWrite()
            let count = try await session.reseal(options.store)
            try Console.print(SealText.current(session.account.status()))
            Console.note(
                "Sealed \(count == 1 ? "1 value" : "\(count) values") again. "
                    + "Recovery sheets need the new words: kvs seal show --sheet")
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the content key that this device has, and the devices that have it.")

        @Flag(help: "Print a JSON object.") var json = false
        @Flag(help: "Fail unless the newest keys have been received.") var fresh = false
        @OptionGroup var options: SealOptions

        func run() async throws {
            let session = try await SealedSession(options.store, for: .reading(isFresh: fresh))
            defer { session.close() }
            let status = try session.account.status()
            if json { return try Console.printJSON(status, isIndented: true, dates: .exact) }
            for line in SealText.lines(status, now: Date()) { try Console.print(line) }
        }
    }

    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: "Accept an older value than one that this device has seen.",
            discussion: """
                A sealed value that is older than one seen before is not opened: the daemon may have put \
                it back. After a backup has been restored that is what happened, and no attack.
                """)

        @Argument(help: "The key.") var key: String
        @OptionGroup var options: StoreOptions

        func run() async throws {
            let opened = try await options.openToRead(isFresh: false)
            defer { opened.store.close() }
            let session = try await SealedSession(options, for: .reading(isFresh: false))
            defer { session.close() }
            try session.values(of: opened).acceptOlder(forKey: key)
        }
    }
}
