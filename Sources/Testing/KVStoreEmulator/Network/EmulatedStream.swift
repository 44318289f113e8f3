import KVStoreCore
import KVStoreSimulation
import NIOCore
import KVStoreServer

/// A device's live stream of a store in an emulator: what it has still to read, and what a fault keeps from it. On the
/// event loop only, and unchecked for that reason.
final class StreamLink: @unchecked Sendable {
    /// As the token names it.
    let caller: Device
    let store: StoreID
    /// The device has been sent all changes up to here.
    fileprivate(set) var sequence: UInt64
    fileprivate var arrived = CircularBuffer<(text: ByteBuffer, sequence: UInt64)>()
    fileprivate var isBroken = false
    fileprivate var inTransitCount = 0
    /// When the last event arrives.
    fileprivate var due: Int64 = 0
    private let watchers: WatcherRegistry

    init(_ caller: Device, store: StoreID, sequence: UInt64, _ watchers: WatcherRegistry) {
        self.caller = caller
        self.store = store
        self.sequence = sequence
        self.watchers = watchers
    }

    var world: String { caller.account }
    var device: String { caller.name }

    func wake() { watchers.wake(CollectionOfOne(store)) }
}

/// A live stream through the emulated network: events may be late or held, and the loss of one breaks it.
struct EmulatedStream: LiveStream {
    private var stream: EventStream
    private let link: StreamLink
    private let network: EmulatedNetwork
    private let slot: StreamSlot

    /// Pages of events that faults keep from a device; past that its stream breaks.
    private static let inTransitCount = 64

    init(_ stream: EventStream, _ link: StreamLink, _ network: EmulatedNetwork) {
        self.stream = stream
        self.link = link
        self.network = network
        network.add(link)
        let (emulation, store, device) = (network.emulation, link.store, link.device)
        emulation.publish(.connected(store: store.name, device: device), in: store)
        slot = StreamSlot {
            network.remove(link)
            emulation.publish(.disconnected(store: store.name, device: device), in: store)
        }
    }

    var topic: StoreID { stream.topic }

    var isChunked: Bool {
        get { stream.isChunked }
        set { stream.isChunked = newValue }
    }

    var isComplete: Bool { link.isBroken || stream.isComplete && link.arrived.isEmpty }

    mutating func next(_ pages: EventPages) -> (text: ByteBuffer?, hasMore: Bool) {
        if isOffline {
            link.isBroken = true
            return (nil, false)
        }
        if let (text, sequence) = link.arrived.popFirst() {
            link.sequence = max(link.sequence, sequence)
            network.markActive(in: link.world)
            return (text, true)
        }
        guard !link.isBroken, !stream.isComplete else { return (nil, false) }
        let former = stream.cursor.sequence
        let (text, hasMore) = stream.next(pages)
        let sequence = stream.cursor.sequence
        guard let text else { return (nil, hasMore) }
        // The opening, or the end.
        guard sequence > former else { return (text, hasMore) }
        guard link.inTransitCount < Self.inTransitCount else {
            link.isBroken = true
            return (nil, false)
        }
        // Not before those that are on their way.
        let notBefore = link.inTransitCount > 0 ? link.due : 0
        link.inTransitCount += 1
        let passage = network.sendEvent(of: link.device, in: link.world, notBefore: notBefore)
        link.due = passage.due
        network.carry(passage) { [link] error in
            link.inTransitCount -= 1
            if error == nil {
                link.arrived.append((text, sequence))
            } else {
                link.isBroken = true
            }
        }
        return (nil, true)
    }

    private var isOffline: Bool {
        network.emulation.world(link.world).devices[link.device]?.faults.isOffline ?? false
    }

    /// Whether the device still exists and sees the store.
    mutating func isAllowed(by devices: any DeviceDirectory, in table: ConnectionTable) -> Bool {
        devices.isCurrent(link.caller)
            && network.emulation.account(of: link.device, in: link.world) == link.store.account
    }
}
