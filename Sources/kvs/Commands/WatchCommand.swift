import ArgumentParser
import Foundation
import KVStore
import CommandSupport

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prints changes of other devices and programs as they come.",
        discussion: "Ends with status 0 on Ctrl-C, or after --count changes.")

    @Argument(help: "Only keys that start with this.", completion: .storedKeys)
    var prefix = ""

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Option(help: "End after so many keys have been printed.")
    var count: Int?

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard count.map({ $0 > 0 }) ?? true else {
            throw ValidationError("--count takes a number above 0.")
        }
    }

    func run() async throws {
        let signals = EndSignals()
        let opened = try options.open(isLive: true)
        defer { opened.store.close() }
        let store = opened.store
        let changes = store.changes
        let printing = Task { [self] in try await follow(changes, of: store) }
        let telling = Task {
            for await connection in store.connectionChanges {
                Console.report(Self.words(connection))
            }
        }
        let ending = Task {
            await signals.wait()
            printing.cancel()
        }
        defer {
            telling.cancel()
            ending.cancel()
        }
        try await printing.value
    }

    private func follow(
        _ changes: AsyncStream<StoreChange>, of store: UbiquitousKeyValueStore
    ) async throws {
        var left = count ?? Int.max
        for await change in changes {
            for key in change.keys.sorted() where key.hasPrefix(prefix) && left > 0 {
                let line = WatchLine(
                    key: key, reason: change.reason,
                    byteCount: store.record(forKey: key)?.content.byteCount, time: Date())
                if json {
                    try Console.write(JSONOutput.data(line.document))
                } else {
                    try Console.print(line.text)
                }
                left -= 1
            }
            if left == 0 { return }
        }
    }

    private static func words(_ connection: StoreStatus.Connection) -> String {
        switch connection {
        case .local: "watching this machine only"
        case .connected: "connected"
        case .idle: "connecting"
        case .offline(let reason): "offline: \(reason)"
        }
    }
}
