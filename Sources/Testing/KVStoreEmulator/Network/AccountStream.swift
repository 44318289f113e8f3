import KVStoreCore
import KVStoreWire
import NIOCore
import KVStoreServer

/// The account of a device of an emulator, and each that follows: the answer to `GET /v1/account`.
struct AccountStream: LiveStream {
    private let device: Device
    private let emulation: Emulation
    private var last: DeviceAccount?
    var isChunked = true

    init(of device: Device, _ emulation: Emulation) {
        self.device = device
        self.emulation = emulation
    }

    /// No account has this name.
    static func topic(of world: String) -> StoreID { StoreID(account: "/", name: world) }

    var topic: StoreID { Self.topic(of: device.account) }
    var isComplete: Bool { false }

    mutating func next(_: EventPages) -> (text: ByteBuffer?, hasMore: Bool) {
        let account = DeviceAccount(emulation.account(of: device.name, in: device.account).map(EmulatedAccount.name))
        guard account != last else { return (nil, false) }
        last = account
        return (framed(EventStreamText.event("account", data: WireJSON.encode(account))), false)
    }

    mutating func isAllowed(by: any DeviceDirectory, in: ConnectionTable) -> Bool { true }
}
