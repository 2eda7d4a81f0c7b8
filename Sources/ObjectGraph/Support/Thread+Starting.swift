package import Foundation

extension Thread {
    /// Starts a thread with a name.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }
}
