import Essentials
package import LocalFiles

/// The file with a device's id: a UUID and a line feed, mode 0600.
package struct DeviceIdentityFile: Sendable {
    private static let byteLimit = 128
    private let file: LocalFile

    /// `device-id` in a directory, which is created with mode 0700 when it is missing.
    package init(dataDirectory: String) {
        file = LocalFile(dataDirectory + "/device-id")
    }

    package var path: String { file.path }

    /// Reads the id; nil when there is no file. `invalid` if it does not contain a UUID.
    package func read() throws(FileError) -> String? {
        do throws(FileError) {
            guard let content = try file.read(byteLimit: Self.byteLimit) else { return nil }
            if let id = DeviceIdentity.id(in: String(decoding: content.data, as: UTF8.self)) {
                return id
            }
        } catch {
            if case .tooLarge = error.cause {} else { throw error }
        }
        throw FileError(
            operation: "read", path: path,
            cause: .invalid(
                "it does not contain a device id; remove it to create a new id"
                    + " (viewers then show this machine as a new device)"))
    }

    /// Reads the id, or creates it when there is none. Of several processes that do so at the same
    /// time one wins, and all return its id.
    package func readOrCreate() throws(FileError) -> String {
        if let id = try read() { return id }
        try file.directory.create()
        _ = try file.create(with: Data((UUID().uuidString.lowercased() + "\n").utf8))
        guard let id = try read() else { throw FileError(operation: "read", path: path, code: ENOENT) }
        return id
    }
}
