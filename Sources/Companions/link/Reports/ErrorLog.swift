import Commands
import Essentials
import LocalFiles

/// Errors that no terminal has shown. They have nothing of a link: neither ids nor addresses.
struct ErrorLog {
    struct Entry: Codable, Equatable {
        var time: Date
        var error: String
        var form: LinkForm?
        /// The exit status of the program that failed.
        var status: Int32?
    }

    private let file: LocalFile

    private static let entryLimit = 100
    private static let byteLimit = 64 * 1_024

    init(_ directories: UserDirectories = UserDirectories()) {
        file = LocalFile(directories.state + "/link.log")
    }

    /// The last entries, oldest first. Lines that are no entries are left out.
    func entries() throws(FileError) -> [Entry] {
        guard let content = try file.read(byteLimit: Self.byteLimit) else { return [] }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return content.data.split(separator: UInt8(ascii: "\n"))
            .compactMap { try? decoder.decode(Entry.self, from: $0) }.suffix(Self.entryLimit)  // Left out, as promised.
    }

    func append(_ entry: Entry) throws(FileError) {
        let lock = try file.lock()
        defer { lock.unlock() }
        // A damaged file is begun again.
        let entries = ((try? entries()) ?? []).suffix(Self.entryLimit - 1) + [entry]
        let lines = entries.compactMap { try? JSONOutput.data($0) }  // Texts and numbers always can be.
        try file.replace(with: lines.reduce(Data(), +), durability: .cached)
    }
}
