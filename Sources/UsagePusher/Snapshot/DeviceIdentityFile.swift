import Foundation
package import LocalFiles

/// The file with a device's id: a UUID and a line feed, mode 0600.
package struct DeviceIdentityFile: Sendable {
    private static let byteLimit = 128
    private let file: LocalFile

    /// `device-id` in a directory, which is created with mode 0700 when it is missing.
    package init(dataDirectory: String) {
        file = LocalFile((dataDirectory as NSString).appendingPathComponent("device-id"))
    }

    package var path: String { file.path }

    package enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The file does not contain a UUID.
        case notAnIdentity(path: String)
        case cannotRead(FileError)
        case cannotWrite(FileError)

        package var description: String {
            switch self {
            case .notAnIdentity(let path):
                "\(path) does not contain a device id; remove it to create a new id"
                    + " (viewers then show this machine as a new device)"
            case .cannotRead(let error), .cannotWrite(let error): error.description
            }
        }
    }

    /// Reads the id; nil when there is no file.
    package func read() throws(Failure) -> String? {
        do throws(FileError) {
            guard let content = try file.read(byteLimit: Self.byteLimit) else { return nil }
            if let id = DeviceIdentity.id(in: String(decoding: content.data, as: UTF8.self)) {
                return id
            }
        } catch {
            if case .tooLarge = error.cause {} else { throw .cannotRead(error) }
        }
        throw .notAnIdentity(path: path)
    }

    /// Reads the id, or creates it when there is none. Of several processes that do so at the same
    /// time one wins, and all return its id.
    package func readOrCreate() throws(Failure) -> String {
        if let id = try read() { return id }
        do throws(FileError) {
            try file.directory.create()
            _ = try file.create(with: Data((UUID().uuidString.lowercased() + "\n").utf8))
        } catch {
            throw .cannotWrite(error)
        }
        guard let id = try read() else {
            throw .cannotRead(FileError(operation: "read", path: path, code: ENOENT))
        }
        return id
    }
}
