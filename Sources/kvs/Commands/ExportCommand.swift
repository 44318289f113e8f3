import ArgumentParser
import CommandSupport
import Foundation
import KVStore

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes all keys with their types as a JSON document.")

    @Argument(help: "The file, replaced whole; standard output without it.", completion: .file())
    var file: String?

    @Flag(help: "Fail unless the daemon has been asked for the newest values.")
    var fresh = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let opened = try options.open()
        defer { opened.store.close() }
        try await opened.refresh(isRequired: fresh)
        let values = try opened.store.keys.map { key in
            guard let value = opened.store.value(forKey: key) else {
                throw CommandFailure(
                    .dataError, "key \(key) holds bytes that are no property list; remove it first")
            }
            return ExportDocument.Entry(key: key, value: value)
        }
        let document = ExportDocument(
            store: options.storeName, exported: DateText.text(Date()), values: values)
        if let file {
            try StandardStreams.writeFile(document.encoded(), to: file)
            Console.report("\(values.count) keys written to \(file)")
        } else {
            try Console.write(document.encoded())
        }
    }
}
