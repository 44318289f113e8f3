import Commands
import Essentials

/// Copies in a Wayland session, by the data-control protocol: `ext_data_control_manager_v1` or its predecessor of
/// wlroots, whose messages are the same. Types and data are those of one offer: another copy in between cannot be
/// mistaken for it.
final class WaylandSource: ClipboardSource {
    private enum Object {
        static let display: UInt32 = 1
        static let registry: UInt32 = 2
        static let callback: UInt32 = 3
        static let seat: UInt32 = 4
        static let manager: UInt32 = 5
        static let device: UInt32 = 6
        static let secondCallback: UInt32 = 7
    }

    private static let managers = ["ext_data_control_manager_v1", "zwlr_data_control_manager_v1"]
    static let noDataControl = SourceError("this Wayland desktop has no data-control protocol, as GNOME has none")

    private let connection: WaylandConnection
    /// The types of offers that are not destroyed; nil for one with too many.
    private var offers: [UInt32: [String]?] = [:]

    /// Connects; what the clipboard has at present is no new copy.
    init(environment: [String: String], _ cancellation: Cancellation) throws(SourceError) {
        connection = try WaylandConnection(environment: environment)
        let time = ContinuousClock.now + SourceLimits.time
        try connection.send(Object.display, 1, [.number(Object.registry)])
        try connection.send(Object.display, 0, [.number(Object.callback)])
        var seat: UInt32?
        var manager: (name: UInt32, interface: String)?
        while let message = try connection.next(cancellation, until: time) {
            try Self.check(message)
            if message.object == Object.callback { break }
            guard message.object == Object.registry, message.operation == 0 else { continue }
            let name = try message.number(at: 0)
            let interface = try message.text(at: 4)
            if interface == "wl_seat" { seat = seat ?? name }
            if Self.managers.contains(interface), manager?.interface != Self.managers[0] {
                manager = (name, interface)
            }
        }
        guard let manager else { throw Self.noDataControl }
        guard let seat else { throw SourceError("this Wayland desktop has no seat") }
        try bind(seat, "wl_seat", Object.seat)
        try bind(manager.name, manager.interface, Object.manager)
        try connection.send(Object.manager, 1, [.number(Object.device), .number(Object.seat)])
        try connection.send(Object.display, 0, [.number(Object.secondCallback)])
        while let message = try connection.next(cancellation, until: time) {
            if message.object == Object.secondCallback { break }
            if let offer = try selection(message) { try destroyOffers(besides: offer) }
        }
    }

    private func bind(_ name: UInt32, _ interface: String, _ object: UInt32) throws(SourceError) {
        try connection.send(Object.registry, 0, [.number(name), .text(interface), .number(1), .number(object)])
    }

    private static func check(_ message: WaylandConnection.Message) throws(SourceError) {
        guard message.object == Object.display, message.operation == 0 else { return }
        throw SourceError("the Wayland display has refused a request")
    }

    func next(_ choose: ([String]) throws -> [String], _ cancellation: Cancellation) throws -> Offer? {
        while let message = try connection.next(cancellation) {
            guard let offer = try selection(message) else { continue }
            try destroyOffers(besides: offer)
            // No owner: also when a program has ended, whose copies stay in the history.
            guard let known = offers[offer] else { continue }
            guard let names = known else { return Offer(typeNames: [], data: [], unread: [.tooLarge]) }
            let (data, unread) = try SourceLimits.read(try choose(names)) { name, byteLimit in
                try read(name, of: offer, byteLimit: byteLimit, cancellation)
            }
            if cancellation.isCancelled { return nil }
            return Offer(typeNames: names, read: data, unread: unread)
        }
        return nil
    }

    /// Applies an event; returns the offer that the clipboard has now, 0 for none.
    private func selection(_ message: WaylandConnection.Message) throws(SourceError) -> UInt32? {
        try Self.check(message)
        switch (message.object, message.operation) {
        case (Object.device, 0):
            guard offers.count < 64 else { throw .malformed }
            offers[try message.number(at: 0)] = .some([])
        case (Object.device, 1): return try message.number(at: 0)
        case (Object.device, 2): throw SourceError("the Wayland desktop has removed the seat")
        case (Object.device, 3): try destroy(try message.number(at: 0))
        case (let offer, 0):
            guard let known = offers[offer], let names = known else { break }
            let name = try message.text(at: 0)
            let isFull = names.count >= SourceLimits.nameCount
            let isLong = name.utf8.count > SourceLimits.nameByteCount
            offers[offer] = .some(isFull || isLong ? nil : names + [name])
        default: break
        }
        return nil
    }

    private func destroyOffers(besides kept: UInt32) throws(SourceError) {
        for offer in offers.keys where offer != kept { try destroy(offer) }
    }

    private func destroy(_ offer: UInt32) throws(SourceError) {
        guard offers.removeValue(forKey: offer) != nil else { return }
        try connection.send(offer, 1)
    }

    /// All that the owner writes until its end, or why it is not known.
    private func read(
        _ name: String, of offer: UInt32, byteLimit: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> Result<Data, Offer.Unread> {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system("create a pipe") }
        defer { close(ends[0]) }
        Descriptor.closeOnExec(ends)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        do {
            defer { close(ends[1]) }
            try connection.send(offer, 0, [.text(name)], passing: ends[1])
        }
        let time = ContinuousClock.now + SourceLimits.time
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while cancellation.wait(for: ends[0], until: time) == .ready {
            let count = Essentials.read(ends[0], &buffer, buffer.count)
            if count == 0 { return .success(data) }
            guard count > 0 || errno == EAGAIN || errno == EINTR else { break }
            if count > 0 { data += buffer.prefix(count) }
            if data.count > byteLimit { return .failure(.tooLarge) }
        }
        return .failure(.notAnswered)
    }
}
