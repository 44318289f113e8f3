import ArgumentParser
import CommandSupport
import KVStoreEssentials
import KVStoreSealed

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Remove keys.",
        discussion: "Ends with status 1 if a key is missing; the other keys are still removed.")

    @Argument(help: "The keys.", completion: .storedKeys)
    var keys: [String]

    @Flag(help: "Fail with 75 unless the daemon has accepted the change.")
    var requireSync = false

    @OptionGroup var sealing: SealedOption
    @OptionGroup var options: StoreOptions

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        // Another device may have set a key that has not been received yet.
        try await opened.refresh(isRequired: false)
        let session =
            sealing.sealed ? try await SealedSession(options, for: .reading(isFresh: false)) : nil
        defer { session?.close() }
        let sealed = try session?.values(of: opened)
        var missing: [String] = []
        for key in keys {
            if let sealed {
                if try sealed.storedKey(of: key) != nil {
                    try sealed.write(nil, forKey: key)
                } else {
                    missing.append(key)
                }
            } else if opened.store.record(forKey: key) == nil {
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
