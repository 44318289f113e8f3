import Essentials
import KVStoreCore
import KVStoreSimulation
import NIOCore
import Synchronization

/// The latest events of an emulator, in the order in which they happened. Readers continue from their own positions:
/// they cost no memory, and the stream of one that misses events ends. Safe to call from any thread.
final class EmulatorEvents: Sendable {
    enum Content: Sendable {
        case connected(store: String, device: String)
        case disconnected(store: String, device: String)
        case sync(store: String, device: String, sent: [StoreKey], received: [StoreKey], rejected: [StoreKey])
        case change(store: String, SequencedRecord, device: String?)
        case reset
        case imported(storeCount: Int, keyCount: Int)
        case clock(ClockReport)
        case settings
        /// Nil: it signed out.
        case account(device: String, String?)
        /// The faults of a device have changed.
        case faults(device: String)
        /// A fault has affected a message of a device.
        case fault(device: String, NetworkFault.Message, FaultOutcome)
        case violation(EmulatedWorld.Violation)

        /// Memory that it takes, estimated.
        fileprivate var byteCount: Int {
            func count(_ keys: [StoreKey]) -> Int {
                keys.reduce(0) { $0 + 32 + $1.text.utf8.count }
            }
            return switch self {
            case .violation(let violation): 512 + violation.call.utf8.count
            case .connected, .disconnected, .reset, .imported, .clock, .settings, .account, .faults, .fault: 192
            case .sync(_, _, let sent, let received, let rejected):
                256 + count(sent) + count(received) + count(rejected)
            case .change(_, let entry, _): 256 + entry.record.key.text.utf8.count + entry.record.content.byteCount
            }
        }
    }

    struct Event: Sendable {
        /// From 1, without gaps.
        var id: UInt64
        var world: String
        /// The account of the store; nil for the one that a world begins with.
        var account: String?
        /// Milliseconds since 1970.
        var time: Int64
        var content: Content

        /// The topics whose streams it wakes.
        var topics: [StoreID] {
            switch content {
            case .account, .reset: [EmulatorEvents.topic, AccountStream.topic(of: world)]
            default: [EmulatorEvents.topic]
            }
        }
    }

    /// Wakes the readers. No account has this name.
    static let topic = StoreID(account: "", name: "events")

    private struct State {
        var events = CircularBuffer<Event>()
        var byteCount = 0
        var nextID: UInt64 = 1
    }

    /// Differs between emulators, whose ids all begin with 1.
    let session = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    private let limits: EmulatorLimits
    private let state = Mutex(State())
    private let wakers = Mutex<[@Sendable (Event) -> Void]>([])

    init(_ limits: EmulatorLimits) { self.limits = limits }

    /// Calls `wake` after each event, on the thread that appends it.
    func observe(_ wake: @escaping @Sendable (Event) -> Void) { wakers.withLock { $0 = [wake] } }

    /// - Parameter time: of the world.
    @discardableResult
    func append(
        _ content: Content, world: String, account: String?, time: Int64
    ) -> Event {
        let event = state.withLock { state in
            let event = Event(id: state.nextID, world: world, account: account, time: time, content: content)
            state.events.append(event)
            state.nextID += 1
            state.byteCount += content.byteCount
            while state.events.count > limits.eventCount
                || state.byteCount > limits.eventByteCount && state.events.count > 1
            {
                state.byteCount -= state.events.removeFirst().content.byteCount
            }
            return event
        }
        for wake in wakers.withLock({ $0 }) { wake(event) }
        return event
    }

    /// The id of the latest event; 0 before the first.
    var latestID: UInt64 { state.withLock { $0.nextID - 1 } }

    /// Up to `count` events after the one with this id; nil if some are gone, or if the id is not one of this emulator.
    func page(after id: UInt64, count: Int) -> [Event]? {
        state.withLock { state in
            let first = state.nextID - UInt64(state.events.count)
            guard id < state.nextID, id + 1 >= first else { return nil }
            return Array(state.events.dropFirst(Int(id + 1 - first)).prefix(count))
        }
    }
}
