import ArgumentParser
import Commands
import Essentials
import KVStoreWire
import KVStoreEssentials
import LocalFiles

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write all keys with their types as a JSON document.",
        discussion: """
            A value that is not a property list, such as one that a script has put with curl, is left out; \
            the others are written, and the exit status is 65.
            """)

    @Argument(help: "The file, replaced atomically; standard output by default.", completion: .file())
    var file: String?

    @Flag(help: "Fail unless the newest values have been received.")
    var fresh = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        try await opened.refresh(isRequired: fresh)
        var unreadable: [String] = []
        let values = opened.store.keys.compactMap { key in
            let value = opened.store.propertyList(forKey: key)
            if value == nil { unreadable.append(key) }
            return value.map { ExportDocument.Entry(key: key, value: $0) }
        }
        let document = try ExportDocument(
            store: options.storeName, exported: DateFormat.text(Date()), values: values
        ).encoded()
        if let file {
            try CommandFailure.ending(.cannotCreate) { () throws(FileError) in
                try LocalFile(file).save(document)
            }
            Console.report("\(values.count.keys) written to \(file)")
        } else {
            try Console.write(document)
        }
        guard unreadable.isEmpty else {
            throw CommandFailure(
                .dataError,
                "\(unreadable.count.keys) left out, whose values are not property lists: "
                    + unreadable.joined(separator: ", "))
        }
    }
}
