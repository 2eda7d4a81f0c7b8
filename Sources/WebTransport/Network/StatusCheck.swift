#if WebBackend
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP1
internal import NIOHTTP2

/// Ends an answer with an invalid status: HTTP statuses are from 100 to 999, and the underlying client takes a smaller one for an interim answer, whose
/// body it does not expect.
// Its variables are used on its event loop only.
final class StatusCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// The error of an answer with an invalid status.
    struct Unknown: Error {
        let status: String
    }

    /// Whether further data on the connection is ignored.
    private var isOver = false

    /// Adds the check to a connection, after its decoder.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
            try pipeline.addHandler(StatusCheck(), position: .after(decoder))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isOver { return }
        if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
            isOver = true
            return context.fireErrorCaught(Unknown(status: "\(head.status.code)"))
        }
        context.fireChannelRead(data)
    }
}

/// The check for an answer over HTTP/2, whose status is text until the underlying client parses it: that accepts any number.
// Its variables are used on its event loop only.
final class StreamStatusCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    private var isOver = false

    /// Adds the check to the channel of a request.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit { try channel.pipeline.syncOperations.addHandler(StreamStatusCheck(), position: .first) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isOver { return }
        if case .headers(let block) = unwrapInboundIn(data), let status = block.headers.first(name: ":status") {
            let digits = status.utf8
            guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != 0x30 else {
                isOver = true
                return context.fireErrorCaught(StatusCheck.Unknown(status: status))
            }
        }
        context.fireChannelRead(data)
    }
}
#endif
