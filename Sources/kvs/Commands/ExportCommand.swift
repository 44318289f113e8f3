import ArgumentParser
import CommandSupport
import Essentials
import KVStoreEssentials
import LocalFiles

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write all keys with their types as a JSON document.")

    @Argument(
        help: "The file, replaced atomically; standard output by default.", completion: .file())
    var file: String?

    @Flag(help: "Fail unless the newest values have been received.")
    var fresh = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        try await opened.refresh(isRequired: fresh)
        let values = try opened.store.keys.map { key in
            guard let value = opened.store.value(forKey: key) else {
                throw CommandFailure(
                    .dataError,
                    "cannot export key \(key): its value is not a property list; remove it first")
            }
            return ExportDocument.Entry(key: key, value: value)
        }
        let document = try ExportDocument(
            store: options.storeName, exported: DateFormat.text(Date()), values: values
        ).encoded()
        guard let file else { return try Console.write(document) }
        do throws(FileError) {
            try LocalFile(file).replace(with: document)
        } catch {
            throw CommandFailure(.cannotCreate, error.description)
        }
        Console.report("\(values.count.keys) written to \(file)")
    }
}
