import ArgumentParser
import Commands
import Essentials

/// The items of a history in the order of the list, and how commands name them.
struct HistoryList {
    let history: ClipHistory
    let settings: ClipSettings
    let keys: [ItemKey]

    init(_ history: ClipHistory, _ settings: ClipSettings) {
        self.history = history
        self.settings = settings
        keys = history.sorted(by: settings.order, pins: settings.pins)
    }

    func title(of key: ItemKey) -> String {
        guard let item = history.items[key] else { return "" }
        let title = ItemTitle.title(of: item, symbols: settings.showsSymbols)
        return title.isEmpty ? ItemLabel.description(of: item) : title
    }

    /// The item that a reference names.
    func key(_ reference: ItemReference) throws(CommandFailure) -> ItemKey {
        switch reference.form {
        case .number(let number):
            guard keys.indices.contains(number - 1) else {
                throw CommandFailure(.failure, "there is no item \(number); the history has \(keys.count)")
            }
            return keys[number - 1]
        case .pin(let letter):
            guard let key = history.pinned(letter) else {
                throw CommandFailure(.failure, "no item is pinned as \(letter.character)")
            }
            return key
        case .identifier(let text):
            let found = keys.filter { $0.name.dropFirst(2).hasPrefix(text) }
            guard let key = found.first, found.count == 1 else {
                throw CommandFailure(
                    .failure,
                    found.isEmpty ? "no item has the id \(text)" : "\(found.count) items have ids that begin so")
            }
            return key
        }
    }
}

/// What an item is called on a command line.
struct ItemReference: ExpressibleByArgument {
    enum Form: Equatable {
        /// The position in the list, from 1.
        case number(Int)
        case pin(PinLetter)
        /// The id, or its beginning: at least four characters.
        case identifier(String)
    }

    let form: Form

    init?(argument: String) {
        if argument.count == 1, let letter = argument.first.flatMap(PinLetter.init) {
            form = .pin(letter)
        } else if argument.count <= 4, let number = Int(argument) {
            form = .number(number)
        } else if (4...22).contains(argument.count) {
            form = .identifier(argument)
        } else {
            return nil
        }
    }

    static let help: ArgumentHelp = """
        Its number in the list, its id, the beginning of that, or the letter of a pin; '-' reads a line \
        of the list from standard input.
        """
}

extension Int {
    /// "1 item", "2 items".
    var items: String { self == 1 ? "1 item" : "\(self) items" }
}

extension ItemKey {
    /// The part of the name that differs.
    var identifier: String { String(name.dropFirst(2)) }
}
