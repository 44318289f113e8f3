import Essentials
import LocalFiles

/// The history of clipse: a JSON file, with images in files beside it.
///
/// The form is `ClipboardItem` and `ClipboardHistory` in config/history.go of github.com/savedra1/clipse; times are UTC
/// in the layout of utils/constants.go; the value of an image is a title, and `filePath` is "null" for text
/// (handlers/wayland.go). Newest first (`AddClipboardItem`).
enum ClipseHistory {
    private static let fileByteLimit = 64 << 20

    private struct Document: Decodable {
        var clipboardHistory: [Item]
    }

    private struct Item: Decodable {
        var value: String
        var recorded: String?
        var filePath: String?
        var pinned: Bool?
        var useCount: Int?
        var lastUsed: String?
    }

    static func read(_ path: String) throws -> ImportedItems {
        guard let content = try LocalFile(path).read(byteLimit: fileByteLimit) else { throw ImportError.missing(path) }
        // The error says what it should be.
        guard let document = try? JSONDecoder().decode(Document.self, from: content.data) else {
            throw ImportError(
                path: path, reason: "not a history of clipse; pass the path of its clipboard_history.json")
        }
        var items = ImportedItems()
        for item in document.clipboardHistory {
            guard !items.isFull else {
                items.skip(ImportedItems.tooOld)
                continue
            }
            do throws(Unread) {
                items.append(try imported(item, beside: path))
            } catch {
                items.skip(error.reason)
            }
        }
        return items
    }

    private struct Unread: Error {
        let reason: String
    }

    private static func imported(_ item: Item, beside path: String) throws(Unread) -> ImportedItem {
        var data = (name: ContentType.text.rawValue, data: Data(item.value.utf8))
        if let file = item.filePath, file != "null", !file.isEmpty {
            let image = try image(file, beside: path)
            // The path may name any file: only what is an image is taken.
            let type = ContentType(sniffing: image)
            guard type.rawValue.hasPrefix("image/") else { throw Unread(reason: "its image file is no image") }
            data = (type.rawValue, image)
        }
        let times = [item.recorded, item.lastUsed].compactMap { $0.flatMap(time) }
        let (copies, overflow) = (item.useCount ?? 0).addingReportingOverflow(1)
        return ImportedItem(
            offer: Offer([data]), first: times.min(), last: times.max(),
            copies: overflow ? 1 : max(1, copies), pin: item.pinned == true ? .unlettered : nil)
    }

    /// From its file, or from the one of that name in the directory of images, as after a home was moved.
    private static func image(_ file: String, beside path: String) throws(Unread) -> Data {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let moved = LocalFile(path).directory.path + "/tmp_files/" + name
        for candidate in [file, moved] where candidate.hasPrefix("/") || candidate == moved {
            do throws(FileError) {
                let limit = ImportedItems.itemByteLimit
                if let content = try LocalFile(candidate).read(byteLimit: limit) { return content.data }
            } catch {
                if case .tooLarge = error.cause { throw Unread(reason: ImportedItems.tooLarge) }
            }
        }
        throw Unread(reason: "its image file is missing or cannot be read")
    }

    /// "2006-01-02 15:04:05.999999999"
    private static func time(_ text: String) -> Timestamp? {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard let seconds = parts.first, seconds.utf8.count == 19,
            // Another form is no time.
            let date = try? Date(seconds.replacing(" ", with: "T") + "Z", strategy: .iso8601)
        else { return nil }
        let digits = (parts.count > 1 ? parts[1] : "").prefix(3)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let fraction = Int64(String(digits) + String(repeating: "0", count: 3 - digits.count)) ?? 0
        return Timestamp(milliseconds: Int64(date.timeIntervalSince1970) * 1_000 + fraction)
    }
}
