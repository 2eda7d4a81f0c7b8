#if WebBackend
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Platform
import TestSupport

@testable import WebTransport

/// A server on this computer that speaks HTTP/2 and HTTP/1.1 over TLS. It answers each request with the version of HTTP and the address.
final class SecureServer: Sendable {
    private let channel: any Channel
    private let counts: LockedBox<(connections: Int, requests: Int)>

    var connections: Int { counts.withLock { $0.connections } }
    var requests: Int { counts.withLock { $0.requests } }
    var url: String { "https://localhost:\(channel.localAddress?.port ?? 0)" }

    init(_ certificate: Certificate) async throws {
        var security = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate.path).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: certificate.keyPath, format: .pem)))
        security.applicationProtocols = ["h2", "http/1.1"]
        let context = try NIOSSLContext(configuration: security)
        let counts = LockedBox((connections: 0, requests: 0))
        self.counts = counts
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                counts.withLock { $0.connections += 1 }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }.flatMap {
                    channel.configureCommonHTTPServerPipeline { stream in
                        stream.eventLoop.makeCompletedFuture { try stream.pipeline.syncOperations.addHandler(Answering(counts: counts)) }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit { channel.close(promise: nil) }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let counts: LockedBox<(connections: Int, requests: Int)>
        private var line = ""

        init(counts: LockedBox<(connections: Int, requests: Int)>) { self.counts = counts }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): line = "\(head.version.major) \(head.uri)"
            case .body: break
            case .end:
                counts.withLock { $0.requests += 1 }
                let body = ByteBuffer(string: line)
                // `/status/99` is answered with that status.
                let status = line.contains("/status/") ? Int(line.split(separator: "/").last ?? "") : nil
                let head = HTTPResponseHead(
                    version: .http1_1, status: .init(statusCode: status ?? 200), headers: ["Content-Length": "\(body.readableBytes)"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }

    /// A certificate that vouches for itself, made by `openssl` in a folder for a time.
    final class Certificate: Sendable {
        private let folder: ScratchFolder
        var path: String { folder.file("certificate.pem").path }
        var keyPath: String { folder.file("key.pem").path }

        /// Whether `openssl` is there.
        static let canBeMade = (try? run(["version"])) == 0

        /// - Parameter host: The host that the certificate is for.
        init(host: String) throws {
            folder = try ScratchFolder("certificate")
            let arguments = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyPath, "-out", path,
                "-days", "2",
                "-subj", "/CN=\(host)", "-addext", "subjectAltName=DNS:\(host)",
            ]
            guard try Self.run(arguments) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }

        private static func run(_ arguments: [String]) throws -> Int32 {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["openssl"] + arguments
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus
        }
    }
}
#endif
