import Commands
import Essentials

extension BoundedProcess {
    /// How long a program may take to read or set a clipboard.
    static let clipboardSeconds = 2.0

    /// Runs a program that reads or sets a clipboard. What it leaves running, as `wl-copy` and `xclip` do to own the
    /// clipboard, goes on.
    ///
    /// - Parameters:
    ///   - environment: all of its variables.
    ///   - outputByteCount: nil if its output is dropped, as it must be for one that stays in the background.
    init(
        clipboard path: String, _ arguments: [String], environment: [String: String], input: Data = Data(),
        outputByteCount: Int? = nil, seconds: Double = clipboardSeconds
    ) {
        self.init(
            path, arguments: arguments, input: input, variables: environment,
            limits: Limits(seconds: seconds, outputByteCount: outputByteCount, errorByteCount: 512), group: .goesOn)
    }

    /// The first line that it wrote to its standard error; not escaped.
    var complaint: String {
        String(decoding: errors, as: UTF8.self).split(separator: "\n").first.map { String($0).trimmed() } ?? ""
    }
}
