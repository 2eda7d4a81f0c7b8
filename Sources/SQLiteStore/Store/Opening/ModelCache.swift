internal import CZlib
internal import Foundation
internal import Logging
internal import ModelFiles
@_spi(Stores) internal import ObjectGraph

/// Encodes and decodes the model in a SQLite store's table `Z_MODELCACHE`: a compiled model, compressed.
enum ModelCache {
    /// The maximum size of a model, so that a few damaged or malicious bytes do not exhaust the memory.
    static let byteLimit = 64 << 20

    /// Returns the content of the table for a model; nil if it has no compiled form.
    ///
    /// A program that has such a model opens the store with it; only programs without the model lack the cached one. The reason is logged.
    static func content(of model: NSManagedObjectModel) throws -> Data? {
        do {
            return try deflate(model.compiledModel())
        } catch {
            Log.model.notice("The model that the store keeps of itself is incomplete. \(error.localizedDescription)")
        }
        do {
            return try deflate(model.compiledArchive())
        } catch {
            Log.model.notice("The store keeps no model of itself. \(error.localizedDescription)")
            return nil
        }
    }

    /// Decodes the content of the table into the empty `model`.
    ///
    /// - Throws: Code 259 (`NSFileReadCorruptFileError`) for content that is not a model.
    static func read(_ content: Data, file: String?, into model: NSManagedObjectModel) throws {
        try ModelFile.read(inflate(content, file: file), form: .compiled, file: file, into: model)
    }

    /// Compresses data with DEFLATE, without a header, like Core Data.
    static func deflate(_ data: Data) throws -> Data {
        var stream = z_stream()
        guard coredata_deflateInitRaw(&stream) == Z_OK else { throw damaged("There is no memory to compress it.", nil) }
        defer { deflateEnd(&stream) }
        return try run(data, &stream, limit: .max, nil) { CZlib.deflate(&$0, Z_FINISH) }
    }

    /// Decompresses the result of ``deflate(_:)``.
    static func inflate(_ data: Data, file: String? = nil) throws -> Data {
        var stream = z_stream()
        guard coredata_inflateInitRaw(&stream) == Z_OK else { throw damaged("There is no memory to decompress it.", file) }
        defer { inflateEnd(&stream) }
        return try run(data, &stream, limit: byteLimit, file) { CZlib.inflate(&$0, Z_NO_FLUSH) }
    }

    private static func run(
        _ data: Data, _ stream: inout z_stream, limit: Int, _ file: String?, _ step: (inout z_stream) -> CInt
    ) throws -> Data {
        var result = Data()
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        // zlib reads through a pointer that is not declared as constant.
        var input = [UInt8](data)
        try input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            var status = Z_OK
            while status == Z_OK {
                let count = piece.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    status = step(&stream)
                    return output.count - Int(stream.avail_out)
                }
                result.append(contentsOf: piece[0..<count])
                guard result.count <= limit else { throw damaged("It is larger than \(limit >> 20) MB.", file) }
            }
            guard status == Z_STREAM_END else { throw damaged("It ends early or is not compressed data (zlib's code \(status)).", file) }
        }
        return result
    }

    private static func damaged(_ reason: String, _ file: String?) -> NSError {
        ModelFileError.malformed(file, element: "Z_MODELCACHE", reason)
    }
}
