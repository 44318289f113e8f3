import ArgumentParser
import ClipCore
import CommandSupport
import Essentials

struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add standard input to the history.")

    @Option(help: "The MIME type of the input.")
    var type = "text/plain"

    @Flag(help: "Do not keep it: it is a secret, say so in the count of skipped copies.")
    var sensitive = false

    func run() throws {
        let store = try HistoryStore()
        defer { store.close() }
        let data = Data("x".utf8)
        let offer = Offer(
            state: sensitive ? .sensitive : .data, typeNames: [type], data: [(type, data)])
        _ = try Recorder(store).record(offer)
    }
}
