import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// A process of its own that serves pages of JSON over HTTP, so that its time is not counted.
final class PageServer {
    let address: String
    private let process: Process
    private let input: Pipe

    /// Starts the server: this program, with `--serve-pages`.
    init(count: Int) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--serve-pages", "--count", "\(count)"]
        let output = Pipe()
        input = Pipe()
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw NotStarted() }
        address = "http://127.0.0.1:\(port)"
    }

    struct NotStarted: Error {}

    deinit { process.terminate() }

    // MARK: The other process

    /// Serves until the standard input ends, as it does with the process that has started this one.
    static func serve(count: Int) throws {
        let pages = ReleasePages(count: count)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try ServerBootstrap(group: group)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(Handler(bodies: pages.bodies))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        // Not printed: that may wait in a buffer.
        try FileHandle.standardOutput.write(contentsOf: Data("\(channel.localAddress?.port ?? 0)\n".utf8))
        while let line = readLine(), !line.isEmpty {}
        try channel.close().wait()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let bodies: [[UInt8]]
        private var page = 0

        init(bodies: [[UInt8]]) { self.bodies = bodies }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): page = head.uri.split(separator: "=").last.flatMap { Int($0) } ?? 0
            case .body: break
            case .end:
                let body = bodies[min(page, bodies.count - 1)]
                let headers: HTTPHeaders = ["Content-Type": "application/json", "Content-Length": "\(body.count)"]
                context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers))), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
