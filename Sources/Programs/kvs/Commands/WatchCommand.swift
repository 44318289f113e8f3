import ArgumentParser
import Commands
import Essentials
import KVStoreWire
import KVStoreEssentials
import KVStoreHTTP

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print changes made by other devices and programs.",
        discussion: "Ends with status 0 on Ctrl-C, or after --count changes.")

    @Argument(help: "Only keys with this prefix.", completion: .storedKeys)
    var prefix = ""

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(help: "End after printing this many keys.")
    var count: Int?

    @OptionGroup var options: ValueOptions

    func validate() throws {
        if let count, count <= 0 { throw ValidationError("--count must be positive") }
    }

    func run() async throws {
        let signals = EndSignals()
        let opened = try options.store.open(isLive: true)
        let values = try await options.values(of: opened, for: .following)
        defer { values.close() }
        let changes = values.changes
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await print(changes, of: values) }
            group.addTask { await signals.wait() }
            group.addTask {
                for await connection in opened.store.connectionChanges {
                    let credentials = opened.store.configuration.credentials
                    let isRemoved = StoreEnvironment().isRemoved(credentials)
                    Console.report(Self.description(of: connection, isRemoved: isRemoved))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func print(_ changes: AsyncStream<StoreChange>, of values: StoreValues) async throws {
        var remaining = count ?? Int.max
        for await change in changes {
            for key in change.keys.sorted() where key.hasPrefix(prefix) && remaining > 0 {
                let record = try values.record(forKey: key)
                let line = WatchLine(
                    key: key, reason: change.reason, byteCount: record?.content.byteCount, time: Date())
                if json {
                    try Console.printJSON(line, dates: .exact)
                } else {
                    try Console.print(line.text)
                }
                remaining -= 1
            }
            if remaining == 0 { return }
        }
    }

    private static func description(of connection: StoreStatus.Connection, isRemoved: Bool) -> String {
        switch connection {
        case .local: "watching this machine only"
        case .connected: "connected"
        case .idle: "connecting"
        case .offline(let reason): "offline: \(reason)" + (isRemoved ? "; " + StoreError.removalAdvice : "")
        }
    }
}
