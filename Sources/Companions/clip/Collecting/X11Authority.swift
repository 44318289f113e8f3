import Essentials
import LocalFiles

/// The file in which programs find the cookies of X11 displays. Pure but for `read`.
///
/// Each entry is a family of addresses (16 bits, most significant byte first), then four fields with their length in 16
/// bits: the address, the number of the display, the name of the method and its data. See Xau(3).
enum X11Authority {
    struct Entry: Equatable {
        var family: UInt16
        var display: String
        var method: String
        var data: [UInt8]
        var address = ""
    }

    static let method = "MIT-MAGIC-COOKIE-1"
    private static let byteLimit = 1 << 20
    /// Families of addresses: the name of this machine, and any.
    private static let localFamilies: Set<UInt16> = [256, 65_535]

    /// The cookie for a display of this machine; empty without one, as servers may need none.
    static func cookie(display: Int, environment: [String: String]) -> [UInt8] {
        let path = environment["XAUTHORITY"] ?? (environment["HOME"] ?? "") + "/.Xauthority"
        guard path.hasPrefix("/"),
            // The server says what it misses.
            let content = try? LocalFile(path).resolvingLinks().read(byteLimit: byteLimit)
        else { return [] }
        return cookie(display: display, in: entries(Array(content.data)), host: ProcessInfo.processInfo.hostName)
    }

    /// - Parameter host: the name of this machine, which other entries may be without: it can have changed.
    static func cookie(display: Int, in entries: [Entry], host: String = "") -> [UInt8] {
        let usable = entries.filter {
            localFamilies.contains($0.family) && $0.method == method
                && ($0.display.isEmpty || $0.display == String(display))
        }
        return (usable.first { $0.address == host } ?? usable.first)?.data ?? []
    }

    /// Those before the first that is cut off.
    static func entries(_ bytes: [UInt8]) -> [Entry] {
        var rest = bytes[...]
        func number() -> UInt16? {
            guard rest.count >= 2 else { return nil }
            return UInt16(rest.removeFirst()) << 8 | UInt16(rest.removeFirst())
        }
        func field() -> [UInt8]? {
            guard let count = number(), rest.count >= count else { return nil }
            defer { rest.removeFirst(Int(count)) }
            return Array(rest.prefix(Int(count)))
        }
        func text() -> String? { field().map { String(decoding: $0, as: UTF8.self) } }
        var entries: [Entry] = []
        while let family = number(), let address = text(), let display = text(),
            let method = text(), let data = field()
        {
            entries.append(Entry(family: family, display: display, method: method, data: data, address: address))
        }
        return entries
    }
}
