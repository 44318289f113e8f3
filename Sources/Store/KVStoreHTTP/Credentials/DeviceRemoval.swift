import Essentials
import KVStoreEssentials
import KVStoreWire
import LocalFiles

/// What this user's programs know of the removal of their device from its account: that the daemon rejects its token.
///
/// It is in a file beside the replicas of the account. Without it each program would find out again and again, and all
/// of them together would use up the failed authentications of an address that others share.
package struct DeviceRemoval: Sendable {
    struct Mark: Codable {
        var deviceID: String
        /// Milliseconds since 1970.
        var rejected: Int64
        var reason: String

        /// Why no request is sent at present; nil if one is: the data of the daemon may have been restored.
        var refusal: String? {
            let age = Date().timeIntervalSince1970 - Double(rejected) / 1_000
            return (0..<DeviceRemoval.askingInterval).contains(age) ? reason : nil
        }
    }

    private let file: LocalFile
    private let deviceID: String

    /// From one request with a rejected token to the next by any program, in seconds.
    private static let askingInterval = 300.0
    private static let byteCount = 65_536

    fileprivate init(directory: String, deviceID: String) {
        // Not the name of a store.
        file = LocalFile(directory + "/.removed")
        self.deviceID = deviceID
    }

    /// Whether the daemon has rejected the token, and not accepted it since.
    package var isRecorded: Bool { mark != nil }

    /// An element whenever that may have changed.
    package var changes: AsyncStream<Void> {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch = WatchedDirectory.watch(file.directory.path) { change.yield() }
        change.onTermination = { _ in watch.cancel() }
        return changes
    }

    var mark: Mark? {
        // A file that cannot be read says nothing; then the daemon is asked.
        guard let content = try? file.read(byteLimit: Self.byteCount),
            let mark = try? WireJSON.decode(Mark.self, from: content.data), mark.deviceID == deviceID
        else { return nil }
        return mark
    }

    func record(_ reason: String) {
        let mark = Mark(deviceID: deviceID, rejected: Int64(Date().timeIntervalSince1970 * 1_000), reason: reason)
        // Without the file the next program asks the daemon itself.
        try? file.directory.create()
        try? file.replace(with: WireJSON.encode(mark), durability: .cached)  // the next request says it again
    }

    /// The daemon has accepted the token.
    func clear() {
        // What stays is cleared with the next answer.
        try? FileManager.default.removeItem(atPath: file.path)
    }
}

extension StoreEnvironment {
    /// Nil for a device of an emulator, which rejects tokens where a test wants it.
    package func removal(of credentials: Credentials) -> DeviceRemoval? {
        guard !credentials.isEmulated else { return nil }
        return DeviceRemoval(directory: accountDirectory(credentials), deviceID: credentials.deviceID)
    }

    /// Whether the daemon has rejected the token of the joined account's device.
    package func isRemoved(_ credentials: Credentials?) -> Bool {
        credentials.flatMap(removal)?.isRecorded ?? false
    }
}
