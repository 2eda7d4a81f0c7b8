import CoreData

extension Track {

    /// The duration as minutes and seconds: “4:33”.
    public var formattedDuration: String {
        let seconds = Int(duration.rounded())
        let remainder = seconds % 60
        return "\(seconds / 60):" + (remainder < 10 ? "0" : "") + "\(remainder)"
    }
}
