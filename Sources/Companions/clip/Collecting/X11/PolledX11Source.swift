import Crypto
import Essentials

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
        for part in offer.data { hash.update(data: SHA256.hash(data: part.data).data) }
        return hash.finalize()
    }
}

extension SHA256Digest {
    fileprivate var data: Data { Data(self) }
}
