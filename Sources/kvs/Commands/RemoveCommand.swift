import ArgumentParser
import CommandSupport
import KVStore

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Removes keys.",
        discussion:
            "The others are removed too when one of the keys is missing; the status is 1 then.")

    @Argument(help: "The keys.", completion: .storedKeys)
    var keys: [String]

    @Flag(help: "Fail with 75 unless the daemon has taken the change.")
    var requireSync = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        // A key that another device has set can be removed here without having been read before.
        try await opened.refresh(isRequired: false)
        var missing: [String] = []
        for key in keys {
            if opened.store.record(forKey: key) == nil {
                missing.append(key)
            } else {
                try opened.store.write(nil, forKey: key)
            }
        }
        if missing.count < keys.count {
            try await opened.finishWrite(isSyncRequired: requireSync)
        }
        guard missing.isEmpty else {
            throw CommandFailure(
                .failure,
                "no value for \(missing.joined(separator: ", ")) in store \(options.storeName)")
        }
    }
}
