import Crypto
import Essentials

/// Copies in an X11 session: the server announces each new owner of the clipboard (extension XFIXES), then `xclip`
/// reads it.
final class X11Source: ClipboardSource {
    private let connection: X11Connection
    private let tool: SelectionTool
    private let selection: UInt32
    /// The number of XFixesSelectionNotify.
    private let notify: UInt8
    private let activeWindow: UInt32

    private enum Operation {
        static let internAtom: UInt8 = 16
        static let getProperty: UInt8 = 20
        static let getSelectionOwner: UInt8 = 23
        static let queryExtension: UInt8 = 98
    }

    static let noXclip = SourceError("xclip is not installed")
    static let noXFixes = SourceError("the X11 display has no extension XFIXES")

    private static let classAtom: UInt32 = 67

    /// Why the clipboard has another owner.
    private enum Change {
        static let owner: UInt8 = 0
    }

    init(environment: [String: String], _ cancellation: Cancellation) throws(SourceError) {
        guard let tool = SelectionTool.xclip(environment, asksAgain: false) else { throw Self.noXclip }
        self.tool = tool
        connection = try X11Connection(environment: environment, cancellation)
        let extensionReply = try connection.reply(to: Self.named(Operation.queryExtension, 0, "XFIXES"))
        guard let extensionReply, extensionReply.bytes[8] != 0 else { throw Self.noXFixes }
        let fixes = extensionReply.bytes[9]
        notify = extensionReply.bytes[10]
        _ = try connection.reply(to: X11Request(fixes, detail: 0, [1, 0]))
        selection = try Self.atom("CLIPBOARD", connection)
        activeWindow = try Self.atom("_NET_ACTIVE_WINDOW", connection)
        // Changes of the owner, and its end in either way.
        try connection.send(X11Request(fixes, detail: 2, [connection.root, selection, 7]))
        // When it is answered, the server has done what was asked before.
        _ = try property(activeWindow, of: connection.root)
    }

    private static func named(_ operation: UInt8, _ detail: UInt8, _ name: String) -> X11Request {
        var request = X11Request(operation, detail: detail)
        request.append(short: name.utf8.count)
        request.append(short: 0)
        request.append(padded: Array(name.utf8))
        return request
    }

    private static func atom(_ name: String, _ connection: X11Connection) throws(SourceError) -> UInt32 {
        let reply = try connection.reply(to: named(Operation.internAtom, 0, name))
        guard let reply else { throw SourceError("the X11 display has no name \(name)") }
        return reply.number(at: 8)
    }

    func next(_ choose: ([String]) throws -> [String], _ cancellation: Cancellation) throws -> Offer? {
        while let event = try connection.nextEvent() {
            guard isChange(event) else { continue }
            // Another owner has come meanwhile: its copy is the one that could be read.
            if try connection.hasEvent(where: isChange) { continue }
            let owner = event.number(at: 8)
            guard owner != 0 else {
                // A program that ends leaves what it had copied in the history; one that clears does not.
                if event.bytes[1] == Change.owner { return Offer(state: .clear, typeNames: [], data: []) }
                continue
            }
            let application = try application(owner: owner)
            let offer = try tool.offer(choose, application: application)
            let isPresent = try offer != nil || self.owner() == owner
            guard isPresent, try !connection.hasEvent(where: isChange) else { continue }
            // An owner without types has taken the copy of the one before away.
            return offer ?? Offer(typeNames: [], data: [])
        }
        return nil
    }

    private func owner() throws(SourceError) -> UInt32? {
        try connection.reply(to: X11Request(Operation.getSelectionOwner, [selection]))?.number(at: 8)
    }

    private func isChange(_ event: X11Connection.Answer) -> Bool {
        event.event == notify && event.number(at: 12) == selection
    }

    // MARK: The application

    /// The class of the window in front, else of the owner of the clipboard, which is often a window of its own.
    private func application(owner: UInt32) throws(SourceError) -> String? {
        let active = try property(activeWindow, of: connection.root)
        if active.count == 4 {
            let window = X11Connection.Answer(bytes: active).number(at: 0)
            if let name = try windowClass(window) { return name }
        }
        return try windowClass(owner)
    }

    /// `WM_CLASS` is the name of an instance and that of the class, each with a null byte after it.
    private func windowClass(_ window: UInt32) throws(SourceError) -> String? {
        let parts = try property(Self.classAtom, of: window).split(separator: 0, omittingEmptySubsequences: false)
        guard parts.count >= 2, !parts[1].isEmpty else { return nil }
        return String(decoding: parts[1], as: UTF8.self)
    }

    /// Up to 1 KiB; empty if there is none, or no such window.
    private func property(_ name: UInt32, of window: UInt32) throws(SourceError) -> [UInt8] {
        let reply = try connection.reply(to: X11Request(Operation.getProperty, [window, name, 0, 0, 256]))
        guard let reply, reply.bytes[1] != 0 else { return [] }
        let count = Int(reply.number(at: 16)) * Int(reply.bytes[1] / 8)
        return Array(reply.bytes.dropFirst(32).prefix(count))
    }
}

/// Copies on an X11 display that announces none to this program: `xclip` reads the clipboard twice a second.
///
/// The same copied twice in a row is one copy.
final class PolledX11Source: ClipboardSource {
    private let tool: SelectionTool
    private var last: SHA256Digest?
    /// The types of a copy that was not to be read, while collecting was paused.
    private var unread: [String]?

    private static let interval = Duration.milliseconds(500)

    /// What the clipboard has at present is no new copy.
    init(environment: [String: String]) throws(SourceError) {
        guard let tool = SelectionTool.xclip(environment) else { throw X11Source.noXclip }
        self.tool = tool
    }

    func next(_ choose: ([String]) throws -> [String], _ cancellation: Cancellation) throws -> Offer? {
        var isFirst = last == nil
        repeat {
            let offer = try tool.offer(choose)
            // An owner that does not answer has not made a copy.
            guard let offer, !offer.typeNames.isEmpty || !offer.data.isEmpty else {
                isFirst = false
                continue
            }
            let digest = Self.digest(of: offer)
            guard digest != last else { continue }
            last = digest
            let isSame = unread == offer.typeNames
            unread = offer.data.isEmpty ? offer.typeNames : nil
            if !isFirst, !isSame { return offer }
            isFirst = false
        } while cancellation.wait(until: .now + Self.interval) != .cancelled
        return nil
    }

    private static func digest(of offer: Offer) -> SHA256Digest {
        var hash = SHA256()
        for name in offer.typeNames { hash.update(data: Data((name + "\0").utf8)) }
        for part in offer.data { hash.update(data: Data(SHA256.hash(data: part.data))) }
        return hash.finalize()
    }
}
