import CShims
import Essentials

/// The functions of the system's PCRE2 that matching needs.
///
/// Unchecked because the addresses of C functions, which do not change, are not declared as sendable.
struct ExpressionLibrary: @unchecked Sendable {
    let call: expression_functions

    /// The system's library; nil when it is not installed.
    static let installed = ExpressionLibrary(fileNames: fileNames)

    /// Loads the first library that exists, and keeps it loaded; nil when there is none.
    init?(fileNames: [String]) {
        guard let library = SharedLibrary(fileNames: fileNames) else { return nil }
        func function<Function>(_ name: String) throws(SharedLibrary.MissingFunction) -> Function {
            try library.function("pcre2_\(name)_8")
        }
        do throws(SharedLibrary.MissingFunction) {
            call = try expression_functions(
                compile_context_create: function("compile_context_create"),
                compile_context_free: function("compile_context_free"),
                set_newline: function("set_newline"),
                compile: function("compile"),
                code_free: function("code_free"),
                get_error_message: function("get_error_message"),
                match_context_create: function("match_context_create"),
                match_context_free: function("match_context_free"),
                set_heap_limit: function("set_heap_limit"),
                set_callout: function("set_callout"),
                match_data_create: function("match_data_create"),
                match_data_free: function("match_data_free"),
                match: function("match"),
                get_ovector_pointer: function("get_ovector_pointer"))
        } catch {
            // Too old for what is asked here, as good as none.
            return nil
        }
    }

    func message(of error: CInt) -> String {
        var text = [UInt8](repeating: 0, count: 256)
        let count = text.withUnsafeMutableBufferPointer {
            call.get_error_message(error, $0.baseAddress!, $0.count)
        }
        return count < 0 ? "error \(error)" : String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }
}
