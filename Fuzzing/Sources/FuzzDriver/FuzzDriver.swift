import Foundation
import FuzzCoverage

/// libFuzzer's own main function, which calls back with one input after another.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// Calls a test with one input after another, as the arguments of the program say, and ends the program. A test that traps or does not return is a
/// finding.
///
/// SwiftPM gives the main function a name of its own, so libFuzzer's is not the one that runs.
public func fuzz(_ test: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt) -> Never {
    fuzz_coverage_link()
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    exit(runDriver(&count, &arguments, test))
}

/// Returns the bytes that an input puts together of the parts of a file: each byte below their number stands for one, any other for itself.
public func assembled(_ input: some Sequence<UInt8>, of parts: [String]) -> [UInt8] {
    var bytes: [UInt8] = []
    for byte in input { if Int(byte) < parts.count { bytes += Array(parts[Int(byte)].utf8) } else { bytes.append(byte) } }
    return bytes
}

/// Returns a whole file in which an input changes bytes: three of the input say the place, in two bytes, and the new byte; one that is left cuts the end
/// off.
public func damaged(_ whole: [UInt8], by input: some Collection<UInt8>) -> [UInt8] {
    var (bytes, rest) = (whole, Array(input)[...])
    while rest.count >= 3, let high = rest.popFirst(), let low = rest.popFirst(), let byte = rest.popFirst() {
        bytes[(Int(high) << 8 | Int(low)) % bytes.count] = byte
    }
    if let cut = rest.first { bytes.removeLast(Int(cut) % bytes.count) }
    return bytes
}
