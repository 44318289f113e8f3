import Essentials
import ArgumentParser
import Commands
import KVStoreEssentials

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", _superCommandName: "kvs", abstract: "Remove keys.",
        discussion: "Ends with status 1 if a key is missing; the other keys are still removed.")

    @Argument(help: "The keys.", completion: .storedKeys)
    var keys: [String]

    @Flag(help: "Fail with 75 unless the daemon has accepted the change.")
    var requireSync = false

    @OptionGroup var options: ValueOptions

    func run() async throws {
        let opened = try options.store.open()
        // Another device may have set a key that has not been received yet.
        try await opened.refresh(isRequired: false)
        let values = try await options.values(of: opened)
        defer { values.close() }
        let storedKeys = try values.storedKeys(of: keys)
        var missing: [String] = []
        for key in keys {
            if try values.record(forKey: key) == nil {
                missing.append(key)
            } else {
                try values.write(nil, forKey: key)
            }
        }
        if missing.count < keys.count {
            try await opened.finishWrite(isSyncRequired: requireSync, of: storedKeys)
        }
        guard missing.isEmpty else {
            throw CommandFailure(
                .failure,
                "no value for \(missing.joined(separator: ", ")) in store \(options.store.storeName)"
            )
        }
    }
}
