internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Reads lines from a terminal. If the system has libedit, it provides editing, completion and history.
///
/// The library is loaded on demand, so the command runs without it. Use the editor on one thread.
final class LineEditor {
    private typealias Completer =
        @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    private typealias Hook = @convention(c) () -> Int32
    private typealias Generator = @convention(c) (UnsafePointer<CChar>?, Int32) -> UnsafeMutablePointer<CChar>?

    /// The functions of libedit, with the signatures of its header `editline/readline.h`, which have been the same since 2004.
    private struct Library {
        let readline: @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?
        let addHistory: @convention(c) (UnsafePointer<CChar>?) -> Int32
        let readHistory: @convention(c) (UnsafePointer<CChar>?) -> Int32
        let writeHistory: @convention(c) (UnsafePointer<CChar>?) -> Int32
        let stifleHistory: @convention(c) (Int32) -> Void
        let parseAndBind: @convention(c) (UnsafePointer<CChar>?) -> Int32
        let matches: @convention(c) (UnsafePointer<CChar>?, Generator) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let initialize: @convention(c) () -> Int32
        let lineBuffer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        let completer: UnsafeMutablePointer<Completer?>
        let wordBreaks: UnsafeMutablePointer<UnsafePointer<CChar>?>
        let isOver: UnsafeMutablePointer<Int32>
        let catchesSignals: UnsafeMutablePointer<Int32>
        let beforeInput: UnsafeMutablePointer<Hook?>

        init?() {
            #if canImport(Darwin)
            let names = ["/usr/lib/libedit.3.dylib"]
            #else
            let names = ["libedit.so.2", "libedit.so.0", "libedit.so"]
            #endif
            guard let handle = names.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else { return nil }
            // The symbols have the types that the header declares; the library is never unloaded.
            func symbol<Type>(_ name: String, _ type: Type.Type) -> Type? { dlsym(handle, name).map { unsafeBitCast($0, to: Type.self) } }
            guard let readline = symbol("readline", (@convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?).self),
                let addHistory = symbol("add_history", (@convention(c) (UnsafePointer<CChar>?) -> Int32).self),
                let readHistory = symbol("read_history", (@convention(c) (UnsafePointer<CChar>?) -> Int32).self),
                let writeHistory = symbol("write_history", (@convention(c) (UnsafePointer<CChar>?) -> Int32).self),
                let stifleHistory = symbol("stifle_history", (@convention(c) (Int32) -> Void).self),
                let parseAndBind = symbol("rl_parse_and_bind", (@convention(c) (UnsafePointer<CChar>?) -> Int32).self),
                let matches = symbol(
                    "rl_completion_matches",
                    (@convention(c) (UnsafePointer<CChar>?, Generator) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?).self),
                let initialize = symbol("rl_initialize", (@convention(c) () -> Int32).self),
                let lineBuffer = symbol("rl_line_buffer", UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.self),
                let completer = symbol("rl_attempted_completion_function", UnsafeMutablePointer<Completer?>.self),
                let wordBreaks = symbol("rl_completer_word_break_characters", UnsafeMutablePointer<UnsafePointer<CChar>?>.self),
                let isOver = symbol("rl_attempted_completion_over", UnsafeMutablePointer<Int32>.self),
                let catchesSignals = symbol("rl_catch_signals", UnsafeMutablePointer<Int32>.self),
                let beforeInput = symbol("rl_pre_input_hook", UnsafeMutablePointer<Hook?>.self)
            else { return nil }
            (self.readline, self.addHistory, self.readHistory, self.writeHistory) = (readline, addHistory, readHistory, writeHistory)
            (self.stifleHistory, self.parseAndBind, self.matches, self.initialize) = (stifleHistory, parseAndBind, matches, initialize)
            (self.lineBuffer, self.completer, self.wordBreaks, self.isOver) = (lineBuffer, completer, wordBreaks, isOver)
            (self.catchesSignals, self.beforeInput) = (catchesSignals, beforeInput)
        }
    }

    /// The editor that the completion function uses: C functions have no context.
    // Used by the thread that reads lines, within `read`.
    nonisolated(unsafe) private static var current: LineEditor?
    private static let kept: Int32 = 1000

    private let library: Library?
    private let history: URL?
    /// The previous lines of a command with several lines.
    private var before = ""
    private let candidates: (_ before: String, _ word: String) -> [String]
    private var found: [String] = []

    /// - Parameters:
    ///   - history: The file with the history; nil for none.
    ///   - candidates: Returns the possible words after a text.
    init(history: URL?, candidates: @escaping (_ before: String, _ word: String) -> [String]) {
        (self.history, self.candidates) = (history, candidates)
        // The library reads characters in the terminal's encoding.
        if setlocale(LC_CTYPE, "") == nil || MB_CUR_MAX_of() == 1 { setlocale(LC_CTYPE, "C.UTF-8") }
        library = Library()
        guard let library else { return }
        library.catchesSignals.pointee = 0
        _ = library.initialize()
        library.stifleHistory(Self.kept)
        if let history { _ = library.readHistory(history.path) }
        // It is never freed, because the library uses it until the process ends. Points, at signs, minus signs and commas are parts of words, such as
        // key paths and lists.
        library.wordBreaks.pointee = UnsafePointer(strdup(" \t\n\"'()=<>!&|{}"))
        library.completer.pointee = { text, start, _ in LineEditor.complete(text, Int(start)) }
        library.beforeInput.pointee = { LineEditor.bindInterrupt() }
    }

    /// Reads a line; nil at the end of the input.
    ///
    /// - Parameters:
    ///   - prompt: The text before the input.
    ///   - before: The previous lines of the command.
    func read(_ prompt: String, after before: String) -> String? {
        guard let library else {
            FileHandle.standardOutput.write(Data(prompt.utf8))
            return readLine()
        }
        self.before = before
        Self.current = self
        defer { Self.current = nil }
        guard let line = library.readline(prompt) else { return nil }
        defer { free(line) }
        return String(cString: line)
    }

    /// Adds a command to the history.
    func remember(_ command: String) {
        guard let library else { return }
        _ = library.addHistory(command)
        guard let history else { return }
        // A failure to write the history is ignored.
        try? FileManager.default.createDirectory(
            at: history.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let mask = umask(0o077)
        _ = library.writeHistory(history.path)
        umask(mask)
    }

    /// Lets an interrupt clear the line, as a key binding. It is bound again for each line, because the library reads the terminal's settings anew.
    private static func bindInterrupt() -> Int32 {
        for command in ["setty -d -isig", "bind ^C em-kill-line"] { _ = current?.library?.parseAndBind(command) }
        return 0
    }

    private static func complete(_ text: UnsafePointer<CChar>?, _ start: Int) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        // The library calls back while `read` runs; `text` and its line are C strings that are valid meanwhile.
        guard let editor = current, let library = editor.library, let text, let line = library.lineBuffer.pointee else { return nil }
        let before = String(decoding: UnsafeRawBufferPointer(start: line, count: min(start, strlen(line))), as: UTF8.self)
        editor.found = editor.candidates(editor.before + before, String(cString: text))
        if editor.found.isEmpty { return nil }
        library.isOver.pointee = 1
        return library.matches(text) { _, state in
            guard let editor = LineEditor.current, Int(state) < editor.found.count else { return nil }
            // The library frees it.
            return strdup(editor.found[Int(state)])
        }
    }
}

/// Returns the maximum number of bytes of a character in the current encoding.
private func MB_CUR_MAX_of() -> Int {
    #if canImport(Glibc)
    Int(__ctype_get_mb_cur_max())
    #else
    4
    #endif
}
