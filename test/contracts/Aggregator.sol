// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A price feed with the interface of Chainlink's AggregatorV3Interface that says what it is told to. For tests only.
contract Aggregator {
    uint8 public decimals;
    uint80 private roundId;
    int256 private answer;
    uint256 private updatedAt;
    uint80 private answeredInRound;

    function setDecimals(uint8 newDecimals) external {
        decimals = newDecimals;
    }

    function setRound(uint80 newRoundId, int256 newAnswer, uint256 newUpdatedAt, uint80 newAnsweredInRound) external {
        roundId = newRoundId;
        answer = newAnswer;
        updatedAt = newUpdatedAt;
        answeredInRound = newAnsweredInRound;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (roundId, answer, updatedAt, updatedAt, answeredInRound);
    }
}
