import Logging
import Synchronization

/// The running daemon's view of its devices: follows devices.json, and knows who has been seen and
/// who is connected.
final class DeviceDirectory: Sendable {
    private struct State {
        var table: DeviceTable
        /// Of the file that `table` is what became of.
        var signature: PrivateFile.Signature?
        /// Why the file could not be read the last time.
        var complaint: DeviceFileError?
        /// Milliseconds since 1970, by device id.
        var lastSeen: [String: Int64] = [:]
        /// Live streams by device id.
        var streams: [String: Int] = [:]
    }

    let file: DeviceFile
    private let logger: Logger
    private let state: Mutex<State>
    private let following = Mutex<Following?>(nil)

    private struct Following {
        let changed: @Sendable () -> Void
        /// Nil until it has begun.
        var watch: (any AnyObject & Sendable)?
    }

    /// Starts the file where there is none.
    init(_ file: DeviceFile, logger: Logger) throws(DeviceFileError) {
        self.file = file
        self.logger = logger
        var found = try file.read()
        if found == nil {
            try file.change { _ in }
            found = try file.read()
        }
        guard let found else { throw .unreadable(path: file.path, detail: "it has just vanished") }
        state = Mutex(State(table: found.table, signature: found.signature))
    }

    /// Begins to watch a folder; what it gives back ends the watch with its last reference.
    typealias Watching =
        @Sendable (_ folder: String, _ changed: @escaping @Sendable () -> Void)
        -> any AnyObject & Sendable

    /// From now on the file is looked at as soon as it is written, too. `changed` runs after each look that
    /// has found other devices than before, on the thread that looked.
    func follow(by watching: Watching, _ changed: @escaping @Sendable () -> Void) {
        following.withLock { $0 = Following(changed: changed) }
        let watch = watching(file.folder) { [weak self] in _ = self?.table }
        following.withLock { $0?.watch = watch }
        // What was written before the watch began.
        _ = table
    }

    var table: DeviceTable { refreshed { $0.table } }

    /// The device that a token stands for, noted as seen now.
    func authenticate(_ digest: TokenDigest, now: Int64) -> Device? {
        refreshed { state in
            let device = state.table.device(with: digest)
            if let device { state.lastSeen[device.id] = now }
            return device
        }
    }

    /// Whether the device may still do what it could when it was authenticated.
    func isCurrent(_ device: Device) -> Bool {
        guard var present = table.device(id: device.id) else { return false }
        present.name = device.name
        return present == device
    }

    struct Presence: Sendable, Equatable {
        var lastSeen: Int64?
        var isConnected: Bool
    }

    func presence(of id: String) -> Presence {
        state.withLock { state in
            Presence(lastSeen: state.lastSeen[id], isConnected: state.streams[id, default: 0] > 0)
        }
    }

    /// Takes a place for a live stream; false when the device has as many as it may have.
    func openStream(_ id: String, limit: Int) -> Bool {
        state.withLock { state in
            guard state.streams[id, default: 0] < limit else { return false }
            state.streams[id, default: 0] += 1
            return true
        }
    }

    func closeStream(_ id: String, now: Int64) {
        state.withLock { state in
            let left = state.streams[id, default: 1] - 1
            state.streams[id] = left > 0 ? left : nil
            state.lastSeen[id] = now
        }
    }

    private func refreshed<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (value, isChanged) = state.withLock { state in
            let former = state.table
            refresh(&state)
            return (body(&state), state.table != former)
        }
        if isChanged, let changed = following.withLock({ $0?.changed }) { changed() }
        return value
    }

    /// Reads the file again when it is another; one that is gone means that there are no devices. One
    /// that says nothing usable changes nothing until it is another. Where the system would not let it
    /// be read, for want of descriptors, say, the next call tries again: a device that the file no
    /// longer has must not stay for that.
    private func refresh(_ state: inout State) {
        let signature = PrivateFile.signature(file.path)
        guard signature != state.signature else { return }
        do throws(DeviceFileError) {
            if let found = try file.read() {
                state.table = found.table
                state.signature = found.signature
            } else {
                state.table = try emptied(state.table)
                state.signature = nil
            }
            state.complaint = nil
            let known = Set(state.table.devices.map(\.id))
            state.lastSeen = state.lastSeen.filter { known.contains($0.key) }
        } catch {
            switch error {
            case .system: break
            case .unreadable, .refused: state.signature = signature
            }
            if error != state.complaint { logger.error("the devices stay as they were: \(error)") }
            state.complaint = error
        }
    }

    private func emptied(_ table: DeviceTable) throws(DeviceFileError) -> DeviceTable {
        do throws(DeviceError) {
            return try DeviceTable(instance: table.instance)
        } catch {
            throw .refused(error)
        }
    }
}
