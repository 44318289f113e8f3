import Essentials
import LocalFiles

/// The files of the time zone database, as the package `tzdata` and macOS install them.
package enum ZoneFiles {
    /// A file with all changes since 1900 has 4 kB.
    private static let byteLimit = 65_536
    private static let nameByteLimit = 64

    /// What `TZDIR` names, as for the C library, else the usual places.
    package static func directories(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        if let directory = environment["TZDIR"], directory.hasPrefix("/") { return [directory] }
        return ["/usr/share/zoneinfo", "/etc/zoneinfo"]
    }

    static func rules(of name: String, in directories: [String]) throws(FileError) -> ZoneRules {
        guard isName(name) else {
            throw FileError(operation: "use the time zone", path: name, cause: .invalid("not a name of a time zone"))
        }
        for name in [name, currentNames[name]].compactMap({ $0 }) {
            for directory in directories {
                let file = LocalFile("\(directory)/\(name)")
                let content: LocalFile.Content?
                do throws(FileError) { content = try file.read(byteLimit: byteLimit) } catch {
                    // A part of the world.
                    guard error.cause == .notAFile else { throw error }
                    continue
                }
                guard let content else { continue }
                do throws(InvalidZone) { return try ZoneRules(file: Array(content.data)) } catch {
                    throw FileError(
                        operation: "read", path: file.path, cause: .invalid("no time zone file: \(error.reason)"))
                }
            }
        }
        throw FileError(operation: "find the time zone", path: name, code: ENOENT)
    }

    /// Names have parts of ASCII letters, digits, hyphens, underscores and plus signs, so none leads elsewhere.
    private static func isName(_ name: String) -> Bool {
        name.utf8.count <= nameByteLimit && name.wholeMatch(of: /[A-Za-z0-9_+-]+(\/[A-Za-z0-9_+-]+){0,3}/) != nil
    }

    /// Former names that ICU, and with it every JavaScript program, still uses, and newer packages no longer install
    /// [CLDR common/bcp47/timezone.xml, attribute "iana"].
    private static let currentNames = [
        "Africa/Asmera": "Africa/Asmara",
        "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
        "America/Catamarca": "America/Argentina/Catamarca",
        "America/Coral_Harbour": "America/Atikokan",
        "America/Cordoba": "America/Argentina/Cordoba",
        "America/Godthab": "America/Nuuk",
        "America/Indianapolis": "America/Indiana/Indianapolis",
        "America/Jujuy": "America/Argentina/Jujuy",
        "America/Louisville": "America/Kentucky/Louisville",
        "America/Mendoza": "America/Argentina/Mendoza",
        "Asia/Calcutta": "Asia/Kolkata",
        "Asia/Katmandu": "Asia/Kathmandu",
        "Asia/Rangoon": "Asia/Yangon",
        "Asia/Saigon": "Asia/Ho_Chi_Minh",
        "Atlantic/Faeroe": "Atlantic/Faroe",
        "Europe/Kiev": "Europe/Kyiv",
        "Pacific/Enderbury": "Pacific/Kanton",
        "Pacific/Ponape": "Pacific/Pohnpei",
        "Pacific/Truk": "Pacific/Chuuk",
    ]
}
