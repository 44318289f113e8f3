import Foundation

/// devices.json of a data directory: read, and changed by one process at a time.
package struct DeviceFile: Sendable {
    typealias Reading =
        @Sendable (_ path: String, _ byteCount: Int) throws(PrivateFile.Failure)
        -> (data: Data, signature: PrivateFile.Signature)?

    let path: String
    let folder: String
    private let readBytes: Reading

    /// `reading` stands between the file and who reads it, for tests.
    init(
        dataDirectory: String,
        reading: @escaping Reading = { path, byteCount throws(PrivateFile.Failure) in
            try PrivateFile.read(path, byteCount: byteCount)
        }
    ) {
        folder = dataDirectory
        path = dataDirectory + "/devices.json"
        readBytes = reading
    }

    /// The devices; none where there is no file yet.
    package func devices() throws(DeviceFileError) -> [Device] { try read()?.table.devices ?? [] }

    /// Nil where there is none yet.
    func read() throws(DeviceFileError) -> (table: DeviceTable, signature: PrivateFile.Signature)? {
        let found: (data: Data, signature: PrivateFile.Signature)?
        do throws(PrivateFile.Failure) {
            found = try readBytes(path, DeviceTableCodec.byteCount)
        } catch {
            throw .system(error)
        }
        guard let found else { return nil }
        do throws(DeviceFileFault) {
            return (try DeviceTableCodec.decode(found.data), found.signature)
        } catch {
            switch error {
            case .unreadable(let detail): throw .unreadable(path: path, detail: detail)
            }
        }
    }

    /// Reads the file, or starts it with a new instance, changes it, and writes it back, while no
    /// other process can.
    package func change<Result>(
        _ body: (inout DeviceTable) throws(DeviceError) -> Result
    ) throws(DeviceFileError) -> Result {
        let lock: FileLock
        do throws(PrivateFile.Failure) { lock = try FileLock(path + ".lock") } catch {
            throw .system(error)
        }
        return try withExtendedLifetime(lock) { () throws(DeviceFileError) in
            var table: DeviceTable
            if let present = try read() {
                table = present.table
            } else {
                table = try refusing { () throws(DeviceError) in
                    try DeviceTable(instance: Self.randomID())
                }
            }
            let result = try refusing { () throws(DeviceError) in try body(&table) }
            do throws(PrivateFile.Failure) {
                try PrivateFile.write(DeviceTableCodec.encode(table), to: path)
            } catch {
                throw .system(error)
            }
            return result
        }
    }

    /// Adds a device with a new token.
    package func add(
        _ name: String, account: String, isReadOnly: Bool, stores: [String]?
    ) throws(DeviceFileError) -> (device: Device, token: String) {
        var random = SystemRandomNumberGenerator()
        let token = DeviceToken(using: &random)
        let device = Device(
            id: Self.randomID(), name: name, account: account,
            scopes: isReadOnly ? [.read] : [.read, .write], stores: stores,
            created: DaemonClock.wallMilliseconds(), digest: token.digest)
        try change { table throws(DeviceError) in try table.add(device) }
        return (device, token.text)
    }

    /// Sixteen random hexadecimal digits.
    static func randomID() -> String {
        let digits = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private func refusing<Result>(
        _ body: () throws(DeviceError) -> Result
    ) throws(DeviceFileError) -> Result {
        do throws(DeviceError) { return try body() } catch { throw .refused(error) }
    }
}

package enum DeviceFileError: Error, Sendable, Equatable, CustomStringConvertible {
    case system(PrivateFile.Failure)
    case unreadable(path: String, detail: String)
    case refused(DeviceError)

    package var description: String {
        switch self {
        case .system(let failure): failure.description
        case .unreadable(let path, let detail):
            "\(path) cannot be used: \(detail). Repair it, or remove it and add the devices again"
        case .refused(let error): error.description
        }
    }
}
